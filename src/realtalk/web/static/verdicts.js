// Reviews of the audit's verdicts, or of drafts: a click or a key keeps what is chosen, with the comment beside it.
import { change, toast } from "./talk.js";

const main = document.querySelector(".review");
const cards = [...main.querySelectorAll(".verdict")];

const waiting = new WeakMap(); // card → what is being sent; the next choice goes after it

function decide(card, choice) {
  const corrects = choice === "correct";
  const body = {
    question: card.dataset.question,
    choice,
    comment: card.querySelector("[data-comment]").value,
  };
  if (corrects) for (const field of card.querySelectorAll("[data-field]")) body[field.dataset.field] = field.value;
  waiting.set(card, (waiting.get(card) ?? Promise.resolve()).then(() => keep(card, body)));
}

async function keep(card, body) {
  const { status, data } = await change("POST", main.dataset.post, body);
  if (status !== 201) { toast(data.error, true); return; }
  card.querySelector("[data-done]").textContent = `✓ ${data.choice}`;
  for (const each of card.querySelectorAll("[data-choice]")) each.setAttribute("aria-pressed", String(each.dataset.choice === data.choice));
  const done = cards.filter((each) => chosen(each)).length;
  document.getElementById("reviewed").textContent = `${done} of ${cards.length} reviewed by you`;
  toast(`${body.question}: ${data.choice}, kept`);
}

const chosen = (card) => card.querySelector('[data-choice][aria-pressed="true"]')?.dataset.choice;

main.addEventListener("click", (event) => {
  const button = event.target.closest("[data-choice]");
  if (button) decide(button.closest(".verdict"), button.dataset.choice);
});
// What is typed after a choice belongs to it.
main.addEventListener("change", (event) => {
  const card = event.target.closest(".verdict");
  const choice = card && chosen(card);
  if (choice && (choice === "correct" || event.target.matches("[data-comment]"))) decide(card, choice);
});

document.getElementById("keeping")?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const { status, data } = await change("POST", event.target.dataset.post, {});
  toast(status === 201 ? `${data.questions} questions are in the corpus` : data.error, status !== 201);
});

const current = () => document.activeElement.closest?.(".verdict");

function move(step) {
  const at = cards.indexOf(current());
  const card = cards[at < 0 ? 0 : Math.min(Math.max(at + step, 0), cards.length - 1)];
  card?.focus();
}

const keys = { j: () => move(1), k: () => move(-1), t: () => window.switchTheme() };
const onCard = {
  a: (card) => decide(card, "accept"),
  r: (card) => decide(card, "reject"),
  c: (card) => { card.querySelector("details").open = true; card.querySelector("[data-field]:not([type=hidden])").focus(); },
  m: (card) => card.querySelector("[data-comment]").focus(),
};

document.addEventListener("keydown", (event) => {
  const card = current();
  if (event.target.matches("input, select")) {
    if (event.key === "Escape" && card) card.focus();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const act = keys[event.key] ?? (card && onCard[event.key]);
  if (act) { event.preventDefault(); act(card); }
});
