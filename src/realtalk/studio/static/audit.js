// Reviews of the audit: one click keeps what is chosen, with the comment beside it.
import { change, toast } from "./talk.js";

const main = document.querySelector(".review");
main.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-choice]");
  if (!button) return;
  const row = button.closest("tr");
  const choice = button.dataset.choice;
  const corrects = choice === "correct";
  const body = {
    question: row.dataset.question,
    choice,
    comment: row.querySelector("[data-comment]").value,
    verdict: corrects ? row.querySelector("[data-verdict]").value : "",
    answer: corrects ? row.querySelector("[data-answer]").value : "",
  };
  button.disabled = true;
  const { status, data } = await change("POST", `/chat/${main.dataset.chat}/audit`, body);
  button.disabled = false;
  if (status !== 201) { toast(data.error, true); return; }
  row.querySelector("[data-done]").textContent = `✓ ${data.choice}`;
});
