"""Long-term conversation: read real chats, measure them, test what models make of them."""

__version__ = "0.1.0"
