"""Long-term conversation: read real chats, measure them, test what models make of them."""

from realtalk.local.offline import switch_off

__version__ = "0.2.0.dev0"

switch_off()  # before any library is imported that would report to its maker
