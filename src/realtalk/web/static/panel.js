// The panel as the server draws it: fetched anew without losing what is open or typed.
import { base, cardBy, cardOf, grow, highlight, openCard, panel, shown } from "./cards.js";
import { endPicking, isPicking } from "./evidence.js";
import { sessionNow } from "./reader.js";
import { flush, pending, recount } from "./saving.js";
import { text, toast } from "./talk.js";

export async function refresh(keep = true) {
  const asked = () => text(`${base}/panel?session=${sessionNow() ?? ""}&who=${encodeURIComponent(shown.who)}`);
  await flush();
  let html = await asked().catch((error) => { toast(error.message, true); return null; });
  if (html !== null && pending()) { // typed meanwhile
    await flush();
    html = await asked().catch(() => null);
  }
  if (html === null || pending()) return; // what is typed and not saved stays in sight
  const draft = panel.querySelector("[data-draft]");
  const scroll = panel.scrollTop;
  const opened = keep ? [...panel.querySelectorAll("details[open]")].map((each) => cardOf(each).dataset.id) : [];
  panel.innerHTML = html;
  shown.who = panel.querySelector("#who").value;
  if (draft && panel.querySelector("#blank")) panel.querySelector("#questions").prepend(draft);
  for (const id of opened) cardBy(id)?.querySelector("details")?.setAttribute("open", "");
  panel.querySelectorAll("textarea").forEach(grow);
  panel.scrollTop = scroll;
  for (const link of document.querySelectorAll("[data-export]"))
    link.href = `${base}/export?layout=${link.dataset.export}&who=${encodeURIComponent(shown.who)}`;
  if (isPicking() && !openCard()) endPicking();
  if (isPicking()) openCard().querySelector("[data-pick]")?.setAttribute("aria-pressed", "true");
  highlight();
  recount();
}
