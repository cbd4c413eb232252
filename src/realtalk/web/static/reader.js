// Reading: a box for every fifty messages; those near the view are filled, the others keep
// their height. Ids of messages in view get their EI strip when it is made.
import { json, text } from "./talk.js";

export const facts = JSON.parse(document.getElementById("facts").textContent);
const reader = document.getElementById("reader");
const pieces = document.getElementById("pieces");
const base = `/chat/${facts.chat}`;
const count = Math.ceil(facts.total / facts.size);
const anchors = CSS.supports("overflow-anchor", "auto");
const boxes = [];
const loading = new Map();
const listeners = { session: [], filled: [] };
let guess = facts.size * 62;
let current = null;
let session = null;

export const on = (what, then) => listeners[what].push(then);
const tell = (what, ...said) => listeners[what].forEach((then) => then(...said));
export const sessionNow = () => session;
export const currentRow = () => current;

function build() {
  const first = pieces.querySelector(".piece");
  const at = Number(first.dataset.piece);
  const made = document.createDocumentFragment();
  for (let number = 0; number < count; number++) {
    if (number === at) { boxes.push(first); made.append(first); continue; }
    const box = document.createElement("div");
    box.className = "piece empty";
    box.dataset.piece = number;
    boxes.push(box);
    made.append(box);
  }
  pieces.append(made);
  guess = Math.max(800, first.offsetHeight * Math.min(1, facts.size / Math.max(1, first.querySelectorAll(".row").length)));
  guess = Math.min(guess, 14e6 / count);
  for (const box of boxes) if (box !== first) box.style.height = `${guess}px`;
  tell("filled", first);
}

function filled(box, html) {
  const before = box.offsetHeight;
  const above = box.getBoundingClientRect().bottom <= reader.getBoundingClientRect().top;
  box.innerHTML = html;
  box.style.height = "";
  box.classList.remove("empty");
  if (above && !anchors) reader.scrollTop += box.offsetHeight - before;
  tell("filled", box);
}

export function load(number) {
  const box = boxes[number];
  if (!box || !box.classList.contains("empty")) return Promise.resolve(box);
  if (!loading.has(number)) {
    const asked = text(`${base}/messages/${number}`)
      .then((html) => filled(box, html))
      .catch(() => {})
      .finally(() => loading.delete(number));
    loading.set(number, asked);
  }
  return loading.get(number);
}

function unload(box) {
  if (box.classList.contains("empty") || box.contains(document.activeElement) || box.contains(current)) return;
  box.style.height = `${box.offsetHeight}px`;
  box.replaceChildren();
  box.classList.add("empty");
}

function watch() {
  const near = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) load(Number(entry.target.dataset.piece));
  }, { root: reader, rootMargin: "1500px 0px" });
  const far = new IntersectionObserver((entries) => {
    for (const entry of entries) if (!entry.isIntersecting) unload(entry.target);
  }, { root: reader, rootMargin: "12000px 0px" });
  for (const box of boxes) { near.observe(box); far.observe(box); }
}

export const rowAt = (place) => document.getElementById(`m${place}`);

export function select(row, { quiet = false } = {}) {
  if (current) current.classList.remove("current");
  current = row;
  if (!row) return;
  row.classList.add("current");
  if (!quiet) row.focus({ preventScroll: true });
}

export async function go(place, { flash = true } = {}) {
  if (!(place >= 0 && place < facts.total)) return null;
  const number = Math.floor(place / facts.size);
  await Promise.all([load(number - 1), load(number), load(number + 1)]);
  const row = rowAt(place);
  if (!row) return null;
  document.body.dataset.view = "read";
  for (let again = 0; again < 2; again++) {
    const heading = row.previousElementSibling?.matches(".session") ? row.previousElementSibling : null;
    if (heading) heading.scrollIntoView({ block: "start" });
    else row.scrollIntoView({ block: "center" });
    await new Promise(requestAnimationFrame);
  }
  select(row);
  if (flash) { row.classList.remove("flash"); void row.offsetWidth; row.classList.add("flash"); }
  return row;
}

export async function move(step) {
  const from = current?.isConnected ? Number(current.dataset.place) : topPlace() - (step > 0 ? 1 : 0);
  const place = Math.max(0, Math.min(facts.total - 1, from + step));
  await load(Math.floor(place / facts.size));
  const row = rowAt(place);
  if (!row) return;
  select(row);
  row.scrollIntoView({ block: "nearest" });
}

function topPlace() {
  const box = reader.getBoundingClientRect();
  for (const down of [70, 110, 160, 220]) {
    for (const across of [0.5, 0.2, 0.8]) {
      const row = document.elementFromPoint(box.left + box.width * across, box.top + down)?.closest?.(".row");
      if (row) return Number(row.dataset.place);
    }
  }
  return current ? Number(current.dataset.place) : facts.at;
}

export function startOf(place) {
  let low = 0, high = facts.starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (facts.starts[middle][0] <= place) low = middle; else high = middle - 1;
  }
  return low;
}

export function moveSession(step) {
  const here = startOf(current?.isConnected ? Number(current.dataset.place) : topPlace());
  const next = facts.starts[Math.max(0, Math.min(facts.starts.length - 1, here + step))];
  return go(next[0], { flash: false });
}

function notice() {
  const [, number, day] = facts.starts[startOf(topPlace())];
  if (number === session) return;
  session = number;
  document.getElementById("where").textContent = day ? `Session ${number} · ${day}` : `Session ${number}`;
  for (const link of document.querySelectorAll("#sessions [aria-current]")) link.removeAttribute("aria-current");
  const link = document.querySelector(`#sessions [data-session="${number}"]`);
  link?.setAttribute("aria-current", "true");
  if (matchMedia("(min-width: 900px)").matches) link?.scrollIntoView({ block: "nearest" });
  tell("session", number);
}

// Strips that are still being made: asked for while messages in the page lack them.
async function strips() {
  const place = document.getElementById("labelling");
  let quiet = 0;
  for (;;) {
    const lacking = [...document.querySelectorAll(".row")].filter((row) => !row.querySelector(".ei"));
    if (lacking.length || !quiet) {
      const places = lacking.slice(0, 400).map((row) => row.dataset.place).join(",");
      try {
        const said = await json(`${base}/strips?places=${places}`);
        for (const row of lacking) {
          const html = said.strips[row.dataset.place];
          if (html) row.querySelector(".strip").innerHTML = html;
        }
        place.hidden = said.done >= said.total && !said.note;
        place.textContent = said.note ? `EI: ${said.note}` : `EI of ${said.done.toLocaleString()} of ${said.total.toLocaleString()} turns`;
        if (said.done >= said.total || said.note) return;
      } catch { /* the server may come back */ }
    }
    quiet += 1;
    await new Promise((done) => setTimeout(done, 1200));
  }
}

export function start() {
  build();
  watch();
  let waiting = false;
  reader.addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; notice(); });
  }, { passive: true });
  if (facts.at > 0) go(facts.at).then(notice);
  else notice();
  strips();
}
