"""Tests of the research beside the package: `make research` runs them."""
