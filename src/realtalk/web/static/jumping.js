// Jumping: Enter in the search goes to the first message that is meant (by a word or a day), again
// to the next, with Shift to the one before. What was found is said in words, also to those who hear.
import { json, toast } from "./talk.js";
import * as reader from "./reader.js";

const search = document.getElementById("search");
const hits = document.getElementById("hits");
const told = document.getElementById("found");
let last = null; // { query, place } of the last jump

function line({ place, number, total, day, exact }, query) {
  if (place === null) return `Nothing found for ${query}`;
  const count = total > 1 ? `${number.toLocaleString()} of ${total.toLocaleString()}` : "";
  if (!day) return total > 1 ? `Message ${count}` : "The only message";
  return exact ? [day, count && `day ${count}`].filter(Boolean).join(", ") : `Nobody wrote then; the nearest day is ${day}`;
}

function mark(place) {
  for (const link of hits.querySelectorAll("[aria-current]")) link.removeAttribute("aria-current");
  const link = hits.querySelector(`[data-go="${place}"]`);
  link?.setAttribute("aria-current", "true");
  link?.scrollIntoView({ block: "nearest" });
}

export const isSearching = () => Boolean(search.value.trim());

export function forget() {
  last = null;
  told.textContent = "";
}

// The list of hits may come after the jump that its Enter asked for.
export function markAgain() {
  if (last?.query === search.value.trim()) mark(last.place);
}

// A hit that was clicked: what follows goes on from there.
export function from(place) {
  if (!isSearching()) return;
  last = { query: search.value.trim(), place };
  mark(place);
}

export async function jump(back = false) {
  const query = search.value.trim();
  if (!query) return;
  const after = last?.query === query ? `&after=${last.place}` : "";
  const url = `/chat/${reader.facts.chat}/jump?q=${encodeURIComponent(query)}${after}&back=${back}`;
  const found = await json(url).catch((error) => { toast(error.message, true); });
  if (!found || search.value.trim() !== query) return; // something else was typed meanwhile
  told.textContent = line(found, query);
  if (found.place === null) return;
  last = { query, place: found.place };
  mark(found.place);
  await reader.go(found.place);
}
