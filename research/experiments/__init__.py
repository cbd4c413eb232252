"""Runs of language models behind the result pages: they train nothing that ships."""
