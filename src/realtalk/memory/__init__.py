"""What a model is shown of a long chat when it is asked about it, and how well that serves."""
