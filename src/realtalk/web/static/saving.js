// Saving: cards save themselves as their fields change, one change at a time, each to the
// version that the card last saw. A new card is stored with the first thing that is put into it.
// A conflict shows both versions, and both are kept. What is refused stays here, and is tried
// again with the next change.
import { base, cardBy, enable, evidenceOf, grow, panel, replaceCard, show, shown } from "./cards.js";
import { change, json, newRequest, saved, toast } from "./talk.js";

const PAUSE = 450;
const works = new Map(); // card id → {id, kind, who, fields, timer, running, refused}
const making = new Set(); // new events that are under way

const holds = (work) => Object.keys(work.fields).length > 0;
export const pending = () => making.size > 0 || [...works.values()].some((work) => work.running || holds(work));
// Under way or about to be, not refused.
const moving = () => making.size > 0 || [...works.values()].some((work) => work.running || (holds(work) && !work.refused));
export const isWaiting = (card) => works.has(card?.dataset.id);
export const forget = (card) => { clearTimeout(works.get(card.dataset.id)?.timer); works.delete(card.dataset.id); };

export function note(card, field, value) {
  const { id, kind } = card.dataset;
  const work = works.get(id) || { id, kind, who: shown.who, fields: {}, timer: 0, running: null };
  works.set(id, work);
  work.fields[field] = value;
  work.refused = false;
  saved("saving");
  clearTimeout(work.timer);
  work.timer = setTimeout(() => send(work.id), PAUSE);
}

export async function send(id) {
  const work = works.get(id);
  if (!work) return;
  clearTimeout(work.timer);
  if (work.running) await work.running;
  if (!holds(work)) return;
  work.refused = false;
  const fields = work.fields;
  work.fields = {};
  work.running = deliver(work, fields);
  await work.running;
  work.running = null;
  if (holds(work) && !work.refused) return send(work.id);
  if (!holds(work)) works.delete(work.id);
  if (work.refused) saved("refused");
  else if (!pending()) { saved(cardBy(work.id)?.matches("[data-draft]") ? "" : "saved"); recount(); }
}

async function deliver(work, fields) {
  const card = cardBy(work.id);
  const isNew = card ? card.matches("[data-draft]") : work.gone;
  if (isNew && Object.values(fields).every((value) => !value?.length)) return; // emptied again
  const body = { fields, request: newRequest() };
  const { status, data } = isNew
    ? await create(work.kind, fields, work.who)
    : await change("PATCH", `/items/${work.id}`, { ...body, version: Number(card?.dataset.version ?? work.version) }, { patient: true });
  const now = cardBy(work.id);
  if (status === 200) {
    work.version = data.item.version;
    if (now) now.dataset.version = data.item.version;
    enable("undo");
  } else if (status === 201) adopt(work, now, data.item);
  else if (status === 409) {
    if (now) goOn(now, data, work);
    toast("This was changed elsewhere too. Both versions are kept.", true);
  } else if (status === 404) { // an older copy of the file was put back: it is made again
    work.fields = { ...(now ? fieldsOf(now) : {}), ...fields, ...work.fields };
    work.gone = true;
    now?.setAttribute("data-draft", "");
  } else {
    work.fields = { ...fields, ...work.fields };
    work.refused = true;
    toast(data.error, true);
  }
}

export async function create(kind, fields, who) {
  const body = { kind, fields, who, request: newRequest() };
  const made = change("POST", `${base}/items`, body, { patient: true });
  making.add(made);
  const answer = await made;
  making.delete(made);
  if (answer.status === 201) enable("undo");
  return answer;
}

// The card of something new goes by its item's name from now on.
function adopt(work, card, item) {
  works.delete(work.id);
  if (shown.open === work.id) shown.open = item.id;
  work.id = item.id;
  work.version = item.version;
  work.gone = false;
  works.set(work.id, work);
  if (!card) return;
  card.dataset.id = item.id;
  card.dataset.version = item.version;
  card.removeAttribute("data-draft");
}

// All that a card shows.
function fieldsOf(card) {
  const found = {};
  for (const each of card.querySelectorAll("[data-field]"))
    if (each.type !== "radio" || each.checked) found[each.dataset.field] = each.value;
  if (card.dataset.kind === "question") found.evidence = evidenceOf(card);
  const { session, speaker } = card.closest(".cards").dataset;
  if (card.dataset.kind === "event" && session) { found.session = Number(session); found.speaker = speaker; }
  return found;
}

// The figures around the cards, once a burst of changes is over.
export function recount() {
  clearTimeout(recount.timer);
  recount.timer = setTimeout(async () => {
    const said = await json(`${base}/counts?who=${encodeURIComponent(shown.who)}`).catch(() => null);
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

// Everything is sent; what is refused is tried once and stays.
export async function flush() {
  const sendAll = () => Promise.all([...making, ...[...works.keys()].map(send)]);
  await sendAll();
  while (moving()) await sendAll(); // a conflict leaves what was typed since to another card
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
  if (shown.open === card.dataset.id) shown.open = data.kept.id;
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
