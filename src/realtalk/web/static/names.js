// Names to redact: a tick or a kind is kept as it changes, one after the other.
import { change, json, saved, toast } from "./talk.js";

const main = document.querySelector(".review");
const ticks = [...main.querySelectorAll("[data-tick]")];
let sending = Promise.resolve();

function keep(body, undo = () => {}) {
  saved("saving");
  sending = sending.then(async () => {
    const { status, data } = await change("POST", "/names", body, { patient: true });
    if (status === 201) saved("saved");
    else { saved("refused"); toast(data.error, true); undo(); }
    return status === 201;
  });
  return sending;
}

const doubtful = document.getElementById("doubtful");

function count() {
  const place = document.getElementById("ticked"), folded = document.getElementById("doubtful-ticked");
  if (place) place.textContent = `${ticks.filter((each) => each.checked).length} of ${ticks.length} are replaced`;
  if (folded) {
    const number = ticks.filter((each) => each.checked && doubtful.contains(each)).length;
    folded.textContent = number ? `(${number} ticked)` : "";
  }
}

main.addEventListener("change", (event) => {
  const row = event.target.closest("tr[data-form]");
  if (!row) return;
  const tick = row.querySelector("[data-tick]"), isTick = event.target === tick;
  const body = { form: row.dataset.form, kind: row.querySelector("[data-kind]").value, replace: tick.checked };
  keep(body, () => { if (isTick) tick.checked = !body.replace; count(); });
  count();
});

main.querySelector("[data-filter] select")?.addEventListener("change", (event) => event.target.form.submit());

main.querySelector("[data-add]")?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const { form, kind } = event.target.elements;
  if (await keep({ form: form.value, kind: kind.value, replace: true })) location.reload();
});

function move(step) {
  const open = ticks.filter((each) => doubtful?.open || !doubtful?.contains(each));
  const at = open.indexOf(document.activeElement.closest?.("tr")?.querySelector("[data-tick]"));
  open[at < 0 ? 0 : Math.min(Math.max(at + step, 0), open.length - 1)]?.focus();
}

function unfold() {
  if (!doubtful) return;
  doubtful.open = !doubtful.open;
  (doubtful.open ? doubtful.querySelector("[data-tick]") : doubtful.querySelector("summary")).focus();
}

const keys = {
  j: () => move(1),
  k: () => move(-1),
  x: () => document.activeElement.matches("[data-tick]") && document.activeElement.click(),
  d: unfold,
  t: () => window.switchTheme(),
};

document.addEventListener("keydown", (event) => {
  if (event.target.matches("input:not([data-tick]), select") || event.ctrlKey || event.metaKey || event.altKey) return;
  const act = keys[event.key];
  if (act) { event.preventDefault(); act(); }
});

async function wait() {
  for (;;) {
    await new Promise((done) => setTimeout(done, 700));
    const said = await json("/names/ready").catch((error) => { toast(error.message, true); return null; });
    if (!said) return;
    if (said.ready) { location.reload(); return; }
  }
}

if (main.dataset.ready === "true") count();
else wait();
