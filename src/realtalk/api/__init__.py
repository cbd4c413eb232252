"""The functions that Python offers; each is also a command (`realtalk.cli` is made from them)."""
