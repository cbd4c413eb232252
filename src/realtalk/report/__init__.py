"""One self-contained HTML page from stored runs: sections, tables, charts, download buttons."""
