// Talk: what is written here is answered by the simulator, piece by piece as it comes.
import { change, lines, toast } from "./talk.js";

const main = document.querySelector(".live");
const part = (id) => document.getElementById(id);
const form = main.querySelector("[data-say]");
const names = [...main.querySelectorAll(".facts bdi")].map((each) => each.textContent);
const send = form?.querySelector("button");

// While a reply is written nothing can be sent, and the page shows it.
function writing(on) {
  send.disabled = on;
  part("said").setAttribute("aria-busy", on); // read aloud once, when it is whole
}

function bubble(who, mine) {
  const row = document.createElement("li");
  row.className = mine ? "row hue0 right" : "row hue1";
  row.innerHTML = '<div class="bubble"><span class="who"><bdi></bdi></span><p class="text" dir="auto"></p></div>';
  row.querySelector("bdi").textContent = who; // never as HTML: it comes from a chat
  part("said").append(row);
  return row.querySelector(".text");
}

function add(place, text) {
  place.textContent += text;
  part("said").scrollTop = part("said").scrollHeight;
}

async function begin(answer) {
  part("consent").hidden = true;
  part("loading").hidden = false;
  const { status, data } = await change("POST", "/talk/begin", { answer });
  part("loading").hidden = true;
  if (status === 409) {
    part("asks").textContent = data.ask;
    part("consent").hidden = false;
    part("asks").focus();
    return;
  }
  if (status !== 201) { part("loading").hidden = false; part("loading").textContent = data.error; return; }
  part("said").innerHTML = data.html;
  part("talking").hidden = false;
  part("said").scrollTop = part("said").scrollHeight;
  form.elements.text.focus();
}

async function say() {
  const text = form.elements.text.value.trim();
  if (send.disabled || !text) return;
  writing(true);
  form.elements.text.value = "";
  add(bubble(names[0], true), text);
  const reply = bubble(`${names[1]} (simulated)`, false);
  let wrong = "";
  try {
    await lines("/talk", { text }, (told) => {
      if (told.piece !== undefined) add(reply, told.piece);
      else if (told.text !== undefined) { reply.textContent = ""; add(reply, told.text); }
      else wrong = told.error;
    });
  } catch (error) { wrong = error.message; }
  if (wrong) { reply.closest("li").remove(); toast(wrong, true); }
  writing(false);
  form.elements.text.focus();
}

if (form) {
  form.addEventListener("submit", (event) => { event.preventDefault(); say(); });
  form.elements.text.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    say();
  });
  part("consent").addEventListener("click", (event) => {
    const { answer } = event.target.closest("button")?.dataset ?? {};
    if (answer) begin(answer);
  });
  begin("");
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, textarea")) return;
  if (event.key === "t") window.switchTheme();
});
