// The panel as the server draws it: fetched anew without losing what is open or typed.
import { base, cardBy, cardOf, grow, highlight, openCard, panel, shown } from "./cards.js";
import { endPicking, isPicking } from "./evidence.js";
import { sessionNow } from "./reader.js";
import { flush, recount } from "./saving.js";
import { text } from "./talk.js";

export async function refresh(keep = true) {
  await flush();
  const scroll = panel.scrollTop;
  const opened = keep ? [...panel.querySelectorAll("details[open]")].map((each) => cardOf(each).dataset.id) : [];
  panel.innerHTML = await text(`${base}/panel?session=${sessionNow() ?? ""}&who=${encodeURIComponent(shown.who)}`);
  shown.who = panel.querySelector("#who").value;
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
