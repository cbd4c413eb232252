"""Chats for an assistant: a server of the Model Context Protocol on standard input and output.

    realtalk mcp "WhatsApp Chat with Mara.zip"      cli.mcp → server.serve(collection)

The assistant asks, this room answers from the chats alone: it opens no connection, changes no
chat, and every answer has an end (`answers`). What the assistant reads goes to whoever runs it.
"""
