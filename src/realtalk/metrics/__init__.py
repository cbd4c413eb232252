"""What judges results: statistics now, and scores of a model's output as they come."""
