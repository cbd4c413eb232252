// Adjudication: one click takes an item into what was agreed.
import { change, toast } from "./talk.js";

const main = document.querySelector(".review");
main.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-take]");
  if (!button) return;
  button.disabled = true;
  const { status, data } = await change("POST", `/chat/${main.dataset.chat}/copy`, { items: [button.dataset.take], to: "final" });
  if (status !== 201) { toast(data.error, true); button.disabled = false; return; }
  const cell = button.closest("td");
  cell.classList.add("taken");
  const done = document.createElement("span");
  done.className = "good";
  done.textContent = data.copied ? "✓ agreed" : "✓ the same is agreed";
  button.replaceWith(done);
  const link = document.querySelector(".pairing .button");
  link.textContent = `${parseInt(link.textContent, 10) + data.copied} agreed`;
});
