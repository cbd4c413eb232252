"""Formats of research: published corpora, annotation sheets, trees, and plain rows."""
