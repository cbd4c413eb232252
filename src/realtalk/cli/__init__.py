"""The command `realtalk`: parsing and printing only."""
