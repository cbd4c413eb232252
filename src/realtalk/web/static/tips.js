// The box with all measures of a message: beside its strip, wherever there is room for it.
const reader = document.getElementById("reader");
const EDGE = 8; // pixels that stay free around it
let open = null;

function place() {
  const tip = open?.querySelector(".tip");
  if (!tip?.offsetWidth) return;
  const at = open.getBoundingClientRect(), page = reader.getBoundingClientRect();
  const left = Math.min(Math.max(at.left, page.left + EDGE), page.right - tip.offsetWidth - EDGE);
  const above = at.top - tip.offsetHeight - 2;
  const below = Math.min(at.bottom + 2, page.bottom - tip.offsetHeight - EDGE);
  tip.style.left = `${Math.max(left, EDGE)}px`;
  tip.style.top = `${above > page.top ? above : Math.max(below, EDGE)}px`;
}

function show(event) {
  open = event.target.closest?.(".ei") ?? open;
  requestAnimationFrame(place); // once the sheet has made it visible
}

for (const each of ["pointerover", "focusin"]) reader.addEventListener(each, show);
reader.addEventListener("scroll", place, { passive: true });
window.addEventListener("resize", place);
