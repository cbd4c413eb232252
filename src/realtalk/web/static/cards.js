// The panel's cards: where they are, what they show, and which of them is open.
import { facts } from "./reader.js";

export const panel = document.getElementById("panel");
export const base = `/chat/${facts.chat}`;
// Whose annotations the panel shows, and the id of the question whose evidence is shown.
export const shown = { who: facts.who, open: null };

export const cardOf = (node) => node.closest(".card[data-id]");
export const cardBy = (id) => panel.querySelector(`.card[data-id="${CSS.escape(id)}"]`);
export const openCard = () => shown.open && cardBy(shown.open);

export function grow(area) {
  area.style.height = "auto";
  area.style.height = `${area.scrollHeight + 2}px`;
}

export function evidenceOf(card) {
  return [...card.querySelectorAll("[data-evidence]")].map((chip) => chip.dataset.evidence);
}

export function highlight() {
  const card = openCard();
  const ids = new Set(card ? evidenceOf(card) : []);
  for (const row of document.querySelectorAll(".row")) row.classList.toggle("evidence", ids.has(row.dataset.id));
}

export function show(card, field, value) {
  const place = card.querySelector(`[data-shows="${field}"]`);
  if (!place) return;
  if (field === "category") {
    const chosen = card.querySelector(`input[value="${CSS.escape(value)}"]`);
    place.textContent = chosen?.nextElementSibling?.textContent ?? value;
  } else place.textContent = value || "New question";
}

export function enable(step) {
  panel.querySelector(`[data-step="${step}"]`)?.removeAttribute("disabled");
}

export function replaceCard(card, html) {
  const holder = document.createElement("template");
  holder.innerHTML = html.trim();
  const made = [...holder.content.children];
  card.replaceWith(...made);
  made.forEach((each) => each.querySelectorAll("textarea").forEach(grow));
  made.at(-1)?.querySelector(".clash")?.scrollIntoView({ block: "nearest" });
  return made;
}
