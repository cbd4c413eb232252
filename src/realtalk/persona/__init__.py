"""Continue a chat as one of its speakers, and how near that comes to what they wrote."""
