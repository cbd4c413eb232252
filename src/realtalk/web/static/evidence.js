// Evidence: which messages tell the answer to the open question, picked by click or key.
import { cardOf, evidenceOf, highlight, openCard, panel, show, shown } from "./cards.js";
import { note } from "./saving.js";
import { toast } from "./talk.js";

const picking = document.getElementById("picking");
let pick = false;
export const isPicking = () => pick;

export function opened(card) {
  shown.open = card.dataset.id;
  for (const other of panel.querySelectorAll(".question details[open]"))
    if (cardOf(other) !== card && !panel.querySelector(".conflict")) other.removeAttribute("open");
  highlight();
}

export function startPicking() {
  const card = openCard();
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
  if (shown.open) document.body.dataset.view = "annotate";
}

export function closed() {
  shown.open = null;
  endPicking();
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
  cut.title = "Not evidence";
  cut.setAttribute("aria-label", cut.title);
  made.append(link, cut);
  return made;
}

export function evidenceChanged(card) {
  const ids = evidenceOf(card);
  show(card, "count", String(ids.length));
  card.querySelectorAll(".evidence-box > .chip.lost").forEach((each) => each.remove());
  note(card, "evidence", ids);
  highlight();
}

export function toggleEvidence(row) {
  const card = openCard();
  if (!pick || !card || !row) return;
  const there = card.querySelector(`[data-evidence="${CSS.escape(row.dataset.id)}"]`);
  if (there) there.remove();
  else card.querySelector(".chips").append(chip(row));
  evidenceChanged(card);
}
