// Guess: a click or a key picks a reply, which is kept before the next round is shown.
import { change, saved, text, toast } from "./talk.js";

const main = document.querySelector(".guess");
const base = `/chat/${main.dataset.chat}/guess`;
let busy = false; // one pick at a time: a key that is held down picks once

const round = () => main.querySelector(".round");

function show(html) {
  main.innerHTML = html;
  const before = main.querySelector(".before");
  if (before) before.scrollTop = before.scrollHeight; // what was said last is what is answered
  main.querySelector("#asks")?.focus({ preventScroll: true });
}

async function once(act) {
  if (busy) return;
  busy = true;
  try { await act(); } catch (error) { toast(error.message, true); } finally { busy = false; }
}

const pick = (place) => once(async () => {
  const turn = Number(round().dataset.turn);
  saved("saving");
  const { status, data } = await change("POST", base, { turn, place }, { patient: true });
  if (status !== 201) { saved("refused"); toast(data.error, true); return; }
  saved("saved");
  show(data.html);
});

const step = (by) => once(async () => {
  const at = Number(round().dataset.at) + by;
  if (at >= 0) show(await text(`${base}/round?at=${at}`));
});

const introduce = (knows) => once(async () => {
  const { status, data } = await change("POST", "/guess/judge", { knows }, { patient: true });
  if (status === 201) location.reload();
  else toast(data.error, true);
});

main.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  const { place, step: by, knows } = button.dataset;
  if (place !== undefined) pick(Number(place));
  else if (by !== undefined) step(Number(by));
  else if (knows !== undefined) introduce(knows === "true");
  else if (button.matches("[data-open-round]")) location.reload();
});

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (event.target.matches("input, select, textarea") || document.querySelector("dialog[open]")) return;
  const asked = main.querySelector("[data-knows]");
  const act = asked
    ? { y: () => introduce(true), n: () => introduce(false) }[event.key]
    : main.querySelector(`[data-place="${Number(event.key) - 1}"]`)
      ? () => pick(Number(event.key) - 1)
      : { b: () => step(-1), s: () => main.querySelector("[data-place]") && step(1) }[event.key];
  if (act) { event.preventDefault(); act(); }
  else if (event.key === "t") window.switchTheme();
});

const before = main.querySelector(".before");
if (before) before.scrollTop = before.scrollHeight;
main.dataset.ready = ""; // from here on clicks and keys are heard
