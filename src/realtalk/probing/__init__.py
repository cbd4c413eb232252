"""Questions about a chat, answered from a memory, and scored: answers, evidence, cost."""
