// The page: search, keys, and the views of a narrow screen.
import "./person.js";
import "./tips.js";
import { text, toast } from "./talk.js";
import * as reader from "./reader.js";
import * as annotate from "./annotate.js";
import * as jumping from "./jumping.js";

const search = document.getElementById("search");
const hits = document.getElementById("hits");
const sessions = document.getElementById("sessions");
let asked = 0;
let timer = 0;

async function find() {
  const mine = ++asked;
  const query = search.value.trim();
  if (!query) { jumping.forget(); hits.hidden = true; sessions.hidden = false; return; }
  const html = await text(`/chat/${reader.facts.chat}/search?q=${encodeURIComponent(query)}`).catch((error) => { toast(error.message, true); });
  if (html === undefined || mine !== asked) return; // a later question was faster
  hits.innerHTML = html;
  hits.hidden = false;
  sessions.hidden = true;
  jumping.markAgain();
}
search.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(find, 90); });
search.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.isComposing) jumping.jump(event.shiftKey);
});
document.getElementById("side").addEventListener("click", (event) => {
  const link = event.target.closest("[data-go]");
  if (!link || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  jumping.from(Number(link.dataset.go));
  reader.go(Number(link.dataset.go));
});
document.getElementById("reader").addEventListener("click", (event) => {
  const row = event.target.closest(".row");
  if (row) reader.select(row, { quiet: Boolean(event.target.closest("a, button")) });
});
document.querySelector(".tabs").addEventListener("click", (event) => {
  const tab = event.target.closest("[data-show]");
  if (tab) document.body.dataset.view = tab.dataset.show;
});

// The chat at a glance, as its page opens. It is a convenience: without it nothing is missing.
const glance = document.getElementById("glance");
text(`/chat/${reader.facts.chat}/glance`).then((html) => { glance.innerHTML = html; glance.hidden = !html.trim(); }).catch(() => {});

const toSearch = () => { document.body.dataset.view = "sessions"; search.focus(); search.select(); };
const onward = (back) => (jumping.isSearching() ? jumping.jump(back) : toSearch());

const keys = {
  j: () => reader.move(1),
  k: () => reader.move(-1),
  ArrowDown: () => reader.move(1),
  ArrowUp: () => reader.move(-1),
  n: () => reader.moveSession(1),
  p: () => reader.moveSession(-1),
  "/": toSearch,
  g: () => onward(false),
  G: () => onward(true),
  i: () => reader.currentRow()?.querySelector(".ei")?.focus(),
  q: () => annotate.newQuestion(),
  v: () => annotate.newEvent(),
  e: () => (annotate.isPicking() ? annotate.endPicking() : annotate.startPicking()),
  u: () => annotate.step("undo"),
  U: () => annotate.step("redo"),
  t: () => window.switchTheme(),
  "?": () => document.getElementById("keys").showModal(),
};

document.addEventListener("keydown", (event) => {
  const typing = event.target.matches("input:not([type=radio]), textarea, select");
  if (event.key === "Escape") {
    if (event.target === search) { event.preventDefault(); clearTimeout(timer); search.value = ""; jumping.forget(); find(); }
    if (typing) event.target.blur();
    else if (event.target.matches(".ei")) event.target.closest(".row").focus({ preventScroll: true });
    else if (document.querySelector("dialog[open]")) return;
    else annotate.endPicking();
    return;
  }
  if (typing || document.querySelector("dialog[open]")) return;
  if (!event.ctrlKey && !event.metaKey && annotate.holding(event.key)) { event.preventDefault(); return; }
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z") {
    event.preventDefault();
    annotate.step(event.shiftKey ? "redo" : "undo");
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === " " && annotate.isPicking()) {
    event.preventDefault();
    annotate.toggleEvidence(reader.currentRow());
    return;
  }
  if (event.key === "Enter" && event.target.matches(".row") && jumping.isSearching()) {
    event.preventDefault();
    jumping.jump(event.shiftKey);
    return;
  }
  if (event.key.startsWith("Arrow") && event.target.closest("#panel, #side")) return;
  const act = keys[event.key];
  if (act) { event.preventDefault(); act(); }
});

annotate.start();
reader.start();
