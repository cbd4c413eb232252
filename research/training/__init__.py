"""Data → the weights that ship: README.md has every command, in order."""
