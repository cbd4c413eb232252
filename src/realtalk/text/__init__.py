"""Texts of every language and script: words, folding, endings, languages, emoji."""
