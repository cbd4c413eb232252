// Annotating: what the panel's buttons, fields and keys do.
import { base, cardOf, enable, grow, highlight, panel, replaceCard, show, shown } from "./cards.js";
import { addEvent, newQuestion } from "./creating.js";
import { closed, endPicking, evidenceChanged, isPicking, opened, startPicking, toggleEvidence } from "./evidence.js";
import "./files.js";
import { refresh } from "./panel.js";
import { facts, go, on } from "./reader.js";
import { flush, forget, isWaiting, note, pending, recount, send } from "./saving.js";
import { change, json, newRequest, saved, toast } from "./talk.js";

export { holding, newEvent, newQuestion } from "./creating.js";
export { endPicking, isPicking, startPicking, toggleEvidence } from "./evidence.js";

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
  else if (event.target.dataset.field && isWaiting(cardOf(event.target))) send(cardOf(event.target).dataset.id);
});

panel.addEventListener("toggle", (event) => {
  const card = cardOf(event.target);
  if (!card) return;
  if (event.target.open) { opened(card); event.target.querySelectorAll("textarea").forEach(grow); }
  else if (shown.open === card.dataset.id) { closed(); highlight(); }
}, true);

async function removeCard(card) {
  await send(card.dataset.id);
  if (card.matches("[data-draft]")) { // it was never stored
    if (shown.open === card.dataset.id) closed();
    forget(card);
    card.remove();
    saved(pending() ? "saving" : "");
    return;
  }
  const body = { version: Number(card.dataset.version), request: newRequest() };
  const { status, data } = await change("DELETE", `/items/${card.dataset.id}`, body, { patient: true });
  if (status === 409) { replaceCard(card, data.html); toast("This was changed elsewhere; look again.", true); return; }
  if (status !== 200 && status !== 404) { toast(data.error, true); return; }
  if (shown.open === card.dataset.id) closed();
  forget(card);
  card.remove();
  recount();
  saved(pending() ? "saving" : "saved");
  enable("undo");
  highlight();
  toast("Removed. u brings it back.");
}

export async function step(which) {
  await flush();
  const { status, data } = await change("POST", `${base}/${which}`, { who: shown.who });
  if (status !== 200) { toast(data.error, true); return; }
  toast(data.items.length ? (which === "undo" ? "Undone" : "Done again") : `Nothing to ${which}`);
  await refresh();
}

async function copy(items) {
  const { status, data } = await change("POST", `${base}/copy`, { items, to: facts.me });
  if (status !== 201) { toast(data.error, true); return; }
  toast(`Copied ${data.copied} to yours`);
  shown.who = facts.me;
  await refresh();
}

async function copyAll() {
  const found = await json(`${base}/items?who=${encodeURIComponent(shown.who)}`).catch((error) => { toast(error.message, true); });
  if (found) copy(found.items.map((item) => item.id));
}

panel.addEventListener("click", async (event) => {
  const node = event.target;
  const card = cardOf(node);
  if (node.closest("[data-new-question]")) newQuestion();
  else if (node.closest("[data-step]")) step(node.closest("[data-step]").dataset.step);
  else if (node.closest("[data-pick]")) isPicking() ? endPicking() : startPicking();
  else if (node.closest("[data-cut]")) { node.closest(".chip").remove(); evidenceChanged(card); }
  else if (node.closest("[data-go]")) { const place = node.closest("[data-go]").dataset.go; if (place) go(Number(place)); }
  else if (node.closest("[data-remove]")) removeCard(card);
  else if (node.closest("[data-settle]")) {
    await flush();
    const { status, data } = await change("POST", `/items/${card.dataset.id}/settle`, { take: node.closest("[data-settle]").dataset.settle });
    if (status !== 200) toast(data.error, true);
    refresh();
  } else if (node.closest("[data-copy]")) copy([card.dataset.id]);
  else if (node.closest("[data-copy-all]")) copyAll();
});

panel.addEventListener("change", (event) => {
  if (event.target.id === "who") { shown.who = event.target.value; closed(); refresh(false); }
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
  if (isPicking() && row && !event.target.closest("a, .ei")) { event.preventDefault(); toggleEvidence(row); }
});
document.querySelector("[data-pick-end]").addEventListener("click", endPicking);

export function start() {
  on("session", () => { if (!panel.contains(document.activeElement) || !document.activeElement.matches("textarea, input")) refresh(); });
  on("filled", highlight);
  // Another tab may have changed something while this one was away.
  document.addEventListener("visibilitychange", () => { if (!document.hidden && !pending() && !panel.contains(document.activeElement)) refresh(); });
  window.addEventListener("beforeunload", (event) => { if (pending()) { flush(); event.preventDefault(); } });
  document.getElementById("saved").textContent = "";
}
