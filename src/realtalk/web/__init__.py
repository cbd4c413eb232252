"""The studio: read a chat as a messenger shows it, and annotate it, in a browser on this machine.

Data flows from `library` (chats by place) and `store` (annotations in SQLite) through `pages`
to the routes; `guard` stands before all of them. Nothing is reached over the network.
"""

__all__: list[str] = []
