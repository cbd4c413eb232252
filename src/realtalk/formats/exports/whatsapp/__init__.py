"""WhatsApp's "Export chat", in every phone's language; `reader` is the way in."""
