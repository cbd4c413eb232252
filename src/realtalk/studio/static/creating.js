// New items: a question or an event is made first, then one types into it.
import { base, enable, grow, panel, shown } from "./cards.js";
import { opened } from "./evidence.js";
import { refresh } from "./panel.js";
import { facts } from "./reader.js";
import { pending, recount } from "./saving.js";
import { change, newRequest, saved, toast } from "./talk.js";

async function create(kind, fields) {
  saved("saving");
  const body = { kind, fields, who: shown.who, request: newRequest() };
  const { status, data } = await change("POST", `${base}/items`, body, { patient: true });
  if (status !== 201) { saved("refused"); toast(data.error, true); return null; }
  saved(pending() ? "saving" : "saved");
  enable("undo");
  recount();
  return data;
}

export async function addEvent(area) {
  const said = area.value.trim();
  if (!said) return;
  area.value = "";
  grow(area);
  const list = area.parentElement.querySelector(".cards");
  const made = await create("event", { session: Number(list.dataset.session), speaker: list.dataset.speaker, text: said });
  if (!made) { area.value = said; return; }
  list.insertAdjacentHTML("beforeend", made.html);
  list.querySelectorAll("textarea").forEach(grow);
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

async function makeQuestion() {
  if (shown.who !== facts.me && shown.who !== "final") { shown.who = facts.me; await refresh(); }
  const made = await create("question", {});
  if (!made) return null;
  document.body.dataset.view = "annotate";
  const list = panel.querySelector("#questions");
  list.insertAdjacentHTML("afterbegin", made.html);
  panel.querySelector(".questions .none")?.remove();
  opened(list.firstElementChild);
  return list.firstElementChild.querySelector("textarea");
}

async function makeEvent() {
  if (shown.who !== facts.me && shown.who !== "final") { shown.who = facts.me; await refresh(); }
  document.body.dataset.view = "annotate";
  return panel.querySelector(".new-event");
}
