"""Readers, writers, storage and checks of corpora: one module per format."""
