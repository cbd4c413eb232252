// New items: a question is an empty card until something is put into it; an event is one line.
import { grow, panel, shown } from "./cards.js";
import { opened } from "./evidence.js";
import { refresh } from "./panel.js";
import { facts } from "./reader.js";
import { create, pending, recount } from "./saving.js";
import { saved, toast } from "./talk.js";

export async function addEvent(area) {
  const said = area.value.trim();
  if (!said) return;
  area.value = "";
  grow(area);
  const list = area.parentElement.querySelector(".cards");
  const waiting = document.createElement("li"); // what was typed stays in sight until it is kept
  waiting.className = "waiting quiet";
  waiting.dir = "auto";
  waiting.textContent = said;
  list.append(waiting);
  saved("saving");
  const fields = { session: Number(list.dataset.session), speaker: list.dataset.speaker, text: said };
  const { status, data } = await create("event", fields, shown.who);
  if (status !== 201) {
    waiting.remove();
    area.value = [said, area.value].filter(Boolean).join("\n");
    grow(area);
    saved("refused");
    toast(data.error, true);
    return;
  }
  const holder = document.createElement("template");
  holder.innerHTML = data.html.trim();
  waiting.replaceWith(holder.content);
  list.querySelectorAll("textarea").forEach(grow);
  if (!pending()) saved("saved");
  recount();
}

// Keys that are pressed before the new field is there: they go into it, none is lost.
let held = null;
export const holding = (key) => {
  if (held === null) return false;
  if (key.length === 1) held += key;
  return true;
};

async function intoField(make) {
  if (held !== null) return;
  held = "";
  const field = await make().catch(() => null);
  const typed = held;
  held = null;
  if (!field) return;
  field.focus();
  if (typed) { field.value += typed; field.dispatchEvent(new Event("input", { bubbles: true })); }
}

export const newQuestion = () => intoField(makeQuestion);
export const newEvent = () => intoField(makeEvent);

let made = 0;
function blank() {
  const card = document.getElementById("blank").content.firstElementChild.cloneNode(true);
  card.dataset.id = `new-${++made}`;
  for (const each of card.querySelectorAll("input[type=radio]")) each.name = `category-${card.dataset.id}`;
  panel.querySelector("#questions").prepend(card);
  panel.querySelector(".questions .none")?.remove();
  return card;
}

async function own() {
  if (shown.who !== facts.me && shown.who !== "final") { shown.who = facts.me; await refresh(); }
  document.body.dataset.view = "annotate";
}

async function makeQuestion() {
  await own();
  const card = panel.querySelector("[data-draft]") ?? blank();
  card.querySelector("details").open = true;
  opened(card);
  return card.querySelector("textarea");
}

async function makeEvent() {
  await own();
  return panel.querySelector(".new-event");
}
