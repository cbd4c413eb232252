"""Readers, writers, storage and checks of corpora: one module a format."""
