"""Turn → emotional-intelligence label: the embedded encoder, hub classifiers, or a judge."""
