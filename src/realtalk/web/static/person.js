// Who annotates: a dialog on every page.
import { change, toast } from "./talk.js";

document.addEventListener("submit", async (event) => {
  if (!event.target.matches("[data-person]") || event.submitter?.value !== "ok") return;
  event.preventDefault();
  const name = new FormData(event.target).get("name");
  const { status, data } = await change("POST", "/annotator", { name });
  if (status === 200) location.assign(location.pathname);
  else toast(data.error, true);
});
