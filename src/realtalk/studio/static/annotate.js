// Annotating: cards save themselves as their fields change, one change at a time, each to the
// version that the card last saw. A conflict shows both versions, and both are kept.
import { change, json, newRequest, saved, text, toast } from "./talk.js";
import { facts, go, on, sessionNow } from "./reader.js";

const panel = document.getElementById("panel");
const picking = document.getElementById("picking");
const base = `/chat/${facts.chat}`;
const PAUSE = 450;
const works = new Map(); // card id → {fields, timer, running}
let who = facts.who;
let open = null; // the id of the question whose evidence is shown
let pick = false;

const cardOf = (node) => node.closest(".card[data-id]");
const cardBy = (id) => panel.querySelector(`.card[data-id="${CSS.escape(id)}"]`);
const pending = () => [...works.values()].some((work) => work.running || Object.keys(work.fields).length);
export const isPicking = () => pick;

function grow(area) {
  area.style.height = "auto";
  area.style.height = `${area.scrollHeight + 2}px`;
}

function evidenceOf(card) {
  return [...card.querySelectorAll("[data-evidence]")].map((chip) => chip.dataset.evidence);
}

function highlight() {
  const card = open && cardBy(open);
  const ids = new Set(card ? evidenceOf(card) : []);
  for (const row of document.querySelectorAll(".row")) row.classList.toggle("evidence", ids.has(row.dataset.id));
}

export async function refresh(keep = true) {
  await flush();
  const scroll = panel.scrollTop;
  const opened = keep ? [...panel.querySelectorAll("details[open]")].map((each) => cardOf(each).dataset.id) : [];
  panel.innerHTML = await text(`${base}/panel?session=${sessionNow() ?? ""}&who=${encodeURIComponent(who)}`);
  who = panel.querySelector("#who").value;
  for (const id of opened) cardBy(id)?.querySelector("details")?.setAttribute("open", "");
  panel.querySelectorAll("textarea").forEach(grow);
  panel.scrollTop = scroll;
  for (const link of document.querySelectorAll("[data-export]"))
    link.href = `${base}/export?layout=${link.dataset.export}&who=${encodeURIComponent(who)}`;
  if (pick && !(open && cardBy(open))) endPicking();
  if (pick) cardBy(open).querySelector("[data-pick]")?.setAttribute("aria-pressed", "true");
  highlight();
  recount();
}

// Saving

function note(card, field, value) {
  const id = card.dataset.id;
  const work = works.get(id) || { fields: {}, timer: 0, running: null };
  works.set(id, work);
  work.fields[field] = value;
  saved("saving");
  clearTimeout(work.timer);
  work.timer = setTimeout(() => send(id), PAUSE);
}

async function send(id) {
  const work = works.get(id);
  if (!work) return;
  clearTimeout(work.timer);
  if (work.running) { await work.running; }
  if (!Object.keys(work.fields).length) return;
  const fields = work.fields;
  work.fields = {};
  work.refused = false;
  work.running = (async () => {
    const card = cardBy(id);
    const version = Number(card?.dataset.version ?? work.version);
    const body = { version, fields, request: newRequest() };
    const { status, data } = await change("PATCH", `/items/${id}`, body, { patient: true });
    const now = cardBy(id);
    if (status === 200) {
      work.version = data.item.version;
      if (now) now.dataset.version = data.item.version;
      enable("undo");
    } else if (status === 409) {
      if (now) goOn(now, data, work);
      toast("Another tab changed this too. Both versions are kept.", true);
    } else { work.refused = true; toast(data.error, true); }
  })();
  await work.running;
  work.running = null;
  if (Object.keys(work.fields).length) return send(id);
  works.delete(id);
  if (!pending()) { saved(work.refused ? "refused" : "saved"); recount(); }
}

// The figures around the cards, once a burst of changes is over.
function recount() {
  clearTimeout(recount.timer);
  recount.timer = setTimeout(async () => {
    const said = await json(`${base}/counts?who=${encodeURIComponent(who)}`).catch(() => null);
    if (!said) return;
    for (const option of panel.querySelectorAll("#who option"))
      option.textContent = `${option.dataset.title} · ${said.annotators[option.value] ?? 0}`;
    const asked = panel.querySelector("#asked"), quota = panel.querySelector("#quota");
    if (asked) asked.textContent = said.questions;
    if (quota) {
      const [, here] = said.sessions[quota.dataset.session] ?? [0, 0];
      quota.textContent = `session ${quota.dataset.session}: ${here} of 2–10`;
      quota.classList.toggle("good", here >= 2 && here <= 10);
    }
    for (const link of document.querySelectorAll("#sessions [data-session]")) {
      const [events, questions] = said.sessions[link.dataset.session] ?? [0, 0];
      link.querySelector(".counts").textContent = events || questions ? `${events}·${questions}` : "";
    }
  }, 250);
}

async function flush() {
  // Again: a conflict leaves what was typed since to another card.
  while (works.size) await Promise.all([...works.keys()].map(send));
}

function enable(step) {
  panel.querySelector(`[data-step="${step}"]`)?.removeAttribute("disabled");
}

function replaceCard(card, html) {
  const holder = document.createElement("template");
  holder.innerHTML = html.trim();
  const made = [...holder.content.children];
  card.replaceWith(...made);
  made.forEach((each) => each.querySelectorAll("textarea").forEach(grow));
  made.at(-1)?.querySelector(".clash")?.scrollIntoView({ block: "nearest" });
  return made;
}

// After a conflict one goes on in one's own version: what was typed since, the caret, the picking.
// Without the caret the next letters would be taken for keys of the page.
function goOn(card, data, work) {
  const field = card.contains(document.activeElement) ? document.activeElement : null;
  const [name, from, to] = [field?.dataset.field, field?.selectionStart, field?.selectionEnd];
  const chips = card.querySelector(".chips");
  replaceCard(card, data.html);
  const mine = data.kept && cardBy(data.kept.id);
  if (!mine) return;
  if (open === card.dataset.id) open = data.kept.id;
  const since = work.fields;
  work.fields = {};
  for (const [each, value] of Object.entries(since)) {
    const place = mine.querySelector(`[data-field="${each}"]`);
    if (each === "evidence") mine.querySelector(".chips").replaceWith(chips);
    else if (place?.type === "radio") mine.querySelector(`[data-field="${each}"][value="${CSS.escape(value)}"]`).checked = true;
    else if (place) place.value = value;
    show(mine, each === "evidence" ? "count" : each, each === "evidence" ? String(value.length) : value);
    note(mine, each, value);
  }
  const place = name && mine.querySelector(`[data-field="${name}"]`);
  if (!place) return;
  place.focus();
  if (place.matches("textarea")) { place.setSelectionRange(from, to); grow(place); }
}

function show(card, field, value) {
  const place = card.querySelector(`[data-shows="${field}"]`);
  if (!place) return;
  if (field === "category") {
    const chosen = card.querySelector(`input[value="${CSS.escape(value)}"]`);
    place.textContent = chosen?.nextElementSibling?.textContent ?? value;
  } else place.textContent = value || "New question";
}

panel.addEventListener("input", (event) => {
  const field = event.target.dataset.field;
  if (event.target.matches("textarea")) grow(event.target);
  if (!field) return;
  const card = cardOf(event.target);
  show(card, field, event.target.value);
  note(card, field, event.target.value);
});
panel.addEventListener("focusout", (event) => {
  if (event.target.matches(".new-event")) addEvent(event.target);
  else if (event.target.dataset.field && works.has(cardOf(event.target)?.dataset.id)) send(cardOf(event.target).dataset.id);
});

// New items

async function create(kind, fields) {
  saved("saving");
  const body = { kind, fields, who, request: newRequest() };
  const { status, data } = await change("POST", `${base}/items`, body, { patient: true });
  if (status !== 201) { saved("refused"); toast(data.error, true); return null; }
  saved(pending() ? "saving" : "saved");
  enable("undo");
  recount();
  return data;
}

async function addEvent(area) {
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
  if (who !== facts.me && who !== "final") { who = facts.me; await refresh(); }
  const made = await create("question", {});
  if (!made) return null;
  document.body.dataset.view = "annotate";
  const list = panel.querySelector("#questions");
  list.insertAdjacentHTML("afterbegin", made.html);
  panel.querySelector(".questions .none")?.remove();
  openCard(list.firstElementChild);
  return list.firstElementChild.querySelector("textarea");
}

async function makeEvent() {
  if (who !== facts.me && who !== "final") { who = facts.me; await refresh(); }
  document.body.dataset.view = "annotate";
  return panel.querySelector(".new-event");
}

// Evidence

function openCard(card) {
  open = card.dataset.id;
  for (const other of panel.querySelectorAll(".question details[open]"))
    if (cardOf(other) !== card && !panel.querySelector(".conflict")) other.removeAttribute("open");
  highlight();
}

panel.addEventListener("toggle", (event) => {
  const card = cardOf(event.target);
  if (!card) return;
  if (event.target.open) { openCard(card); event.target.querySelectorAll("textarea").forEach(grow); }
  else if (open === card.dataset.id) { open = null; endPicking(); highlight(); }
}, true);

export function startPicking() {
  const card = open && cardBy(open);
  if (!card?.querySelector("[data-pick]")) { toast("Open one of your questions first."); return; }
  pick = true;
  picking.hidden = false;
  document.body.classList.add("picking");
  document.body.dataset.view = "read";
  card.querySelector("[data-pick]").setAttribute("aria-pressed", "true");
  document.getElementById("reader").focus({ preventScroll: true });
}

export function endPicking() {
  if (!pick) return;
  pick = false;
  picking.hidden = true;
  document.body.classList.remove("picking");
  panel.querySelectorAll('[aria-pressed="true"]').forEach((each) => each.setAttribute("aria-pressed", "false"));
  if (open) document.body.dataset.view = "annotate";
}

function chip(row) {
  const made = document.createElement("span");
  made.className = "chip";
  made.dataset.evidence = row.dataset.id;
  const link = document.createElement("button");
  link.type = "button";
  link.dataset.go = row.dataset.place;
  link.textContent = row.dataset.id;
  const cut = document.createElement("button");
  cut.type = "button";
  cut.className = "cut";
  cut.dataset.cut = "";
  cut.textContent = "×";
  made.append(link, cut);
  return made;
}

function evidenceChanged(card) {
  const ids = evidenceOf(card);
  show(card, "count", String(ids.length));
  card.querySelectorAll(".evidence-box > .chip.lost").forEach((each) => each.remove());
  note(card, "evidence", ids);
  highlight();
}

export function toggleEvidence(row) {
  const card = open && cardBy(open);
  if (!pick || !card || !row) return;
  const there = card.querySelector(`[data-evidence="${CSS.escape(row.dataset.id)}"]`);
  if (there) there.remove();
  else card.querySelector(".chips").append(chip(row));
  evidenceChanged(card);
}

// Buttons

async function removeCard(card) {
  await send(card.dataset.id);
  const body = { version: Number(card.dataset.version), request: newRequest() };
  const { status, data } = await change("DELETE", `/items/${card.dataset.id}`, body, { patient: true });
  if (status === 409) { replaceCard(card, data.html); toast("Another tab changed this; look again.", true); return; }
  if (status !== 200) { toast(data.error, true); return; }
  if (open === card.dataset.id) { open = null; endPicking(); }
  card.remove();
  recount();
  saved(pending() ? "saving" : "saved");
  enable("undo");
  highlight();
  toast("Removed. u brings it back.");
}

export async function step(which) {
  await flush();
  const { status, data } = await change("POST", `${base}/${which}`, { who });
  if (status !== 200) { toast(data.error, true); return; }
  toast(data.items.length ? (which === "undo" ? "Undone" : "Done again") : `Nothing to ${which}`);
  await refresh();
}

async function copy(items) {
  const { status, data } = await change("POST", `${base}/copy`, { items, to: facts.me });
  if (status !== 201) { toast(data.error, true); return; }
  toast(`Copied ${data.copied} to yours`);
  who = facts.me;
  await refresh();
}

panel.addEventListener("click", async (event) => {
  const node = event.target;
  const card = cardOf(node);
  if (node.closest("[data-new-question]")) newQuestion();
  else if (node.closest("[data-step]")) step(node.closest("[data-step]").dataset.step);
  else if (node.closest("[data-pick]")) pick ? endPicking() : startPicking();
  else if (node.closest("[data-cut]")) { node.closest(".chip").remove(); evidenceChanged(card); }
  else if (node.closest("[data-go]")) { const place = node.closest("[data-go]").dataset.go; if (place) go(Number(place)); }
  else if (node.closest("[data-remove]")) removeCard(card);
  else if (node.closest("[data-settle]")) {
    await flush();
    await change("POST", `/items/${card.dataset.id}/settle`, { take: node.closest("[data-settle]").dataset.settle });
    refresh();
  } else if (node.closest("[data-copy]")) copy([card.dataset.id]);
  else if (node.closest("[data-copy-all]")) copyAll();
});

async function copyAll() {
  const { items } = await json(`${base}/items?who=${encodeURIComponent(who)}`);
  copy(items.map((item) => item.id));
}

panel.addEventListener("change", (event) => {
  if (event.target.id === "who") { who = event.target.value; open = null; endPicking(); refresh(false); }
});
panel.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && event.target.matches(".new-event, .event textarea")) {
    event.preventDefault();
    if (event.target.matches(".new-event")) addEvent(event.target);
    else event.target.blur();
  }
});

document.getElementById("reader").addEventListener("click", (event) => {
  const row = event.target.closest(".row");
  if (pick && row && !event.target.closest("a, .ei")) { event.preventDefault(); toggleEvidence(row); }
});
document.querySelector("[data-pick-end]").addEventListener("click", endPicking);

// A file is fetched first: what cannot be written is said here, not saved as a file.
document.querySelector(".exports").addEventListener("click", async (event) => {
  const link = event.target.closest("[data-export]");
  if (!link) return;
  event.preventDefault();
  await flush();
  const answer = await fetch(link.href).catch(() => null);
  document.getElementById("files").close(); // a notice would stand behind it
  if (!answer?.ok) { toast(answer ? (await answer.json()).error : "the studio does not answer", true); return; }
  const name = (answer.headers.get("content-disposition") ?? "").split("''")[1] ?? "chat";
  const place = URL.createObjectURL(await answer.blob());
  const save = document.createElement("a");
  save.href = place;
  save.download = decodeURIComponent(name);
  save.click();
  setTimeout(() => URL.revokeObjectURL(place), 10_000);
  toast(`Saved ${save.download}`);
});

document.querySelector("[data-import]").addEventListener("click", async () => {
  const file = document.getElementById("upload").files[0];
  if (!file) { toast("Choose a file first.", true); return; }
  const as = document.getElementById("upload-who").value.trim();
  const url = `${base}/import?name=${encodeURIComponent(file.name)}&who=${encodeURIComponent(as)}`;
  const { status, data } = await change("POST", url, null, { raw: file });
  if (status !== 201) { toast(data.error, true); return; }
  document.getElementById("files").close();
  toast([`Imported ${data.made} as ${data.who}`, data.there ? `${data.there} were there` : "", ...data.notes].filter(Boolean).join("; "));
  who = data.who;
  refresh(false);
});

export function start() {
  on("session", () => { if (!panel.contains(document.activeElement) || !document.activeElement.matches("textarea, input")) refresh(); });
  on("filled", highlight);
  // Another tab may have changed something while this one was away.
  document.addEventListener("visibilitychange", () => { if (!document.hidden && !pending() && !panel.contains(document.activeElement)) refresh(); });
  window.addEventListener("beforeunload", (event) => { if (pending()) { flush(); event.preventDefault(); } });
  document.getElementById("saved").textContent = "";
}
