"""A chat, or stored runs → one page that opens from its file: figures, tables and charts."""
