// Files: the chat with its annotations out of the studio, and other people's into it.
import { base, shown } from "./cards.js";
import { refresh } from "./panel.js";
import { flush } from "./saving.js";
import { change, toast } from "./talk.js";

// A file is fetched first: what cannot be written is said here, not saved as a file.
document.querySelector(".exports").addEventListener("click", async (event) => {
  const link = event.target.closest("[data-export]");
  if (!link) return;
  event.preventDefault();
  await flush();
  const answer = await fetch(link.href).catch(() => null);
  document.getElementById("files").close(); // a notice would stand behind it
  if (!answer?.ok) { toast(answer ? (await answer.json().catch(() => ({}))).error ?? "the file cannot be had" : "the studio does not answer", true); return; }
  const name = (answer.headers.get("content-disposition") ?? "").split("''")[1] ?? "chat";
  const place = URL.createObjectURL(await answer.blob());
  const save = document.createElement("a");
  save.href = place;
  save.download = decodeURIComponent(name);
  save.click();
  setTimeout(() => URL.revokeObjectURL(place), 10_000);
  toast(`Saved ${save.download}`);
});

document.querySelector("[data-import]").addEventListener("click", async () => {
  const file = document.getElementById("upload").files[0];
  if (!file) { toast("Choose a file first.", true); return; }
  const as = document.getElementById("upload-who").value.trim();
  const url = `${base}/import?name=${encodeURIComponent(file.name)}&who=${encodeURIComponent(as)}`;
  const { status, data } = await change("POST", url, null, { raw: file });
  if (status !== 201) { toast(data.error, true); return; }
  document.getElementById("files").close();
  toast([`Imported ${data.made} as ${data.who}`, data.there ? `${data.there} were there` : "", ...data.notes].filter(Boolean).join("; "));
  shown.who = data.who;
  refresh(false);
});
