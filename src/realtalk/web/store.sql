-- The tables of a file of annotations, as a new one is made.
CREATE TABLE item (
    place INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    chat TEXT NOT NULL,
    kind TEXT NOT NULL,
    author TEXT NOT NULL,
    version INTEGER NOT NULL,
    body TEXT NOT NULL,
    conflict_of TEXT,
    taken_from TEXT,
    deleted INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX item_chat ON item (chat, author);
CREATE TABLE edit (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    item TEXT NOT NULL,
    chat TEXT NOT NULL,
    author TEXT NOT NULL,
    version INTEGER NOT NULL,
    before TEXT,
    after TEXT,
    step TEXT NOT NULL,
    state TEXT NOT NULL,
    request TEXT UNIQUE,
    at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
);
CREATE INDEX edit_item ON edit (item, version);
CREATE INDEX edit_step ON edit (chat, author, state, number);
CREATE TABLE seeded (chat TEXT PRIMARY KEY);
