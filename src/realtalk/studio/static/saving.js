// Saving: cards save themselves as their fields change, one change at a time, each to the
// version that the card last saw. A conflict shows both versions, and both are kept.
import { base, cardBy, enable, grow, panel, replaceCard, show, shown } from "./cards.js";
import { change, json, newRequest, saved, toast } from "./talk.js";

const PAUSE = 450;
const works = new Map(); // card id → {fields, timer, running}

export const pending = () => [...works.values()].some((work) => work.running || Object.keys(work.fields).length);
export const isWaiting = (card) => works.has(card?.dataset.id);

export function note(card, field, value) {
  const id = card.dataset.id;
  const work = works.get(id) || { fields: {}, timer: 0, running: null };
  works.set(id, work);
  work.fields[field] = value;
  saved("saving");
  clearTimeout(work.timer);
  work.timer = setTimeout(() => send(id), PAUSE);
}

export async function send(id) {
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

export async function flush() {
  // Again: a conflict leaves what was typed since to another card.
  while (works.size) await Promise.all([...works.keys()].map(send));
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
