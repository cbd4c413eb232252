"""A chat → a portrait of it: people, rhythm, words and feelings, as figures and as a page."""
