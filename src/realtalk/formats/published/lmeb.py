"""LMEB's folders (queries, corpus, candidates, qrels) to a Corpus: one chat per scene.

    user_evidence/queries.jsonl     {"id": "scene_0_q_1", "text": "What did I restore?"}
    user_evidence/corpus.jsonl      {"id": "scene_0_session_1_turn_9", "text": "User: chairs",
                                     "title": "Session 1, Turn 9"}
    user_evidence/candidates.jsonl  {"scene_id": "scene_0", "candidate_doc_ids": [...]}
    user_evidence/qrels.tsv         scene_0_q_1 <tab> scene_0_session_1_turn_9 <tab> 1
    → Chat("scene_0", ("User", …)) with Question("scene_0_q_1", …, "user_evidence", evidence=(…,))

A scene is what its queries may search: its candidates, in their order. Its id is the beginning of
the ids of its queries; candidates may also be listed by query, and without any the whole corpus is
one scene. A session is told by an id or a title, a speaker by the beginning of a text, where all
texts of a scene have one. Answers are not published.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from realtalk.chat import Message, Question, Session
from realtalk.formats.json_input import (
    BLANK,
    BROKEN,
    Fields,
    decode,
    json_lines,
    text_of,
    with_keys,
)
from realtalk.formats.published.record import (
    Part,
    chat_part,
    extra_of,
    folders_with,
    gather,
    known_evidence,
)
from realtalk.formats.reading import Format, Ledger, Leftover, ReadCorpus, ReadOptions
from realtalk.formats.source import Member, Source, matching

_NAMES = ("queries.jsonl", "corpus.jsonl", "qrels.tsv")
_CANDIDATES = "candidates.jsonl"
_SESSION = re.compile(r"session[_ -]?(\d{1,6})|\bD(\d{1,6}):\d", re.IGNORECASE)
_SPEAKER = re.compile(r"\s*(?:\[[^\]\n]{1,40}\]\s*)?([^\W\d][\w .'’-]{0,39}?)\s*:\s+")
_MOST_SPEAKERS = 20
_NOBODY = "memory"


def _folders(source: Source) -> dict[str, dict[str, Member]]:
    """The folders that hold a task: its files by name."""
    folders = folders_with(source, (*_NAMES, _CANDIDATES))
    return {name: files for name, files in folders.items() if set(_NAMES) <= set(files)}


def _sniff(source: Source) -> bool:
    folders = _folders(source)
    first = tuple(files["corpus.jsonl"] for files in folders.values())[:1]
    return any(matching(Source(source.path, first), (".jsonl",), with_keys("text")))


def _read(source: Source, options: ReadOptions) -> ReadCorpus:
    folders = _folders(source)
    if not folders:
        raise source.error(
            f"no folder with {', '.join(_NAMES)} found",
            "give the folder of a task, or one that holds several",
        )
    parts: list[Part] = []
    for done, (folder, files) in enumerate(folders.items()):
        options.progress(done, len(folders), folder)
        parts += _task(folder.rpartition("/")[2] or source.name, files)
    # The same scene of several tasks side by side: what they share is searched for once.
    parts.sort(key=lambda part: part[0][0].id if part[0] else "")
    return gather(source, "lmeb", parts)


def _task(category: str, files: Mapping[str, Member]) -> list[Part]:
    leftovers: list[Leftover] = []
    documents = dict(_rows(files["corpus.jsonl"], leftovers))
    queries = dict(_rows(files["queries.jsonl"], leftovers))
    relevant = _relevant(files["qrels.tsv"])
    scenes: dict[str, list[str]] = {}
    if _CANDIDATES in files:
        for _, row in json_lines(files[_CANDIDATES]):
            if isinstance(row, dict):
                name = next((text_of(v) for v in row.values() if not isinstance(v, list)), "")
                listed = next((v for v in row.values() if isinstance(v, list)), [])
                scenes[name] = [id_ for id_ in map(text_of, listed) if id_ in documents]
    scenes = scenes or {category: list(documents)}
    of_scene: dict[str, list[str]] = {name: [] for name in scenes}
    for id_ in queries:
        scene = _scene_of(id_, scenes)
        if scene is None:
            leftovers.append(Leftover(f"{files['queries.jsonl'].name}: {id_}", "has no candidates"))
        else:
            of_scene[scene].append(id_)
    parts = []
    for name, query_ids in of_scene.items():
        if query_ids:
            sessions = _sessions(scenes[name], documents, files["corpus.jsonl"].where)
            ids = set(scenes[name])
            questions = (
                Question(
                    id_,
                    text_of(queries[id_].get("text")),
                    None,
                    category,
                    **known_evidence(relevant.get(id_, ()), ids),
                )
                for id_ in query_ids
            )
            parts.append(chat_part(name, sessions, questions, ()))
    return [*parts, ([], Ledger.of(0, leftovers))]


def _rows(member: Member, leftovers: list[Leftover]) -> Iterator[tuple[str, Fields]]:
    for number, row in json_lines(member):
        id_ = text_of(row.get("id", row.get("_id"))) if isinstance(row, dict) else ""
        if id_:
            yield id_, row
        elif row is not BLANK:
            reason = "is no JSON" if row is BROKEN else "has no id"
            leftovers.append(Leftover(f"{member.name}:{number}", reason))


def _relevant(member: Member) -> dict[str, list[str]]:
    """Query → documents; a line has query, document and score, TREC's has a 0 between."""
    relevant: dict[str, list[str]] = {}
    for line in decode(member.read()).splitlines():
        cells = line.split("\t") if "\t" in line else line.split()
        if len(cells) < 2:
            continue
        score = cells[-1] if len(cells) > 2 else "1"
        try:
            if float(score) > 0:
                relevant.setdefault(cells[0], []).append(cells[2 if len(cells) > 3 else 1])
        except ValueError:
            continue  # the names of the columns
    return relevant


def _scene_of(query: str, scenes: Mapping[str, Any]) -> str | None:
    if query in scenes or len(scenes) == 1:
        return query if query in scenes else next(iter(scenes))
    # "scene_1" is not the scene of "scene_12_q_0".
    ends = [at for at in range(len(query), 0, -1) if at == len(query) or not query[at].isalnum()]
    return next((query[:at] for at in ends if query[:at] in scenes), None)


def _sessions(
    ids: Sequence[str], documents: Mapping[str, Fields], where: str
) -> tuple[Session, ...]:
    texts = [text_of(documents[id_].get("text")) for id_ in ids]
    named = [_SPEAKER.match(text) for text in texts]
    names = {match[1] for match in named if match}
    are_named = all(named) and len(names) <= _MOST_SPEAKERS
    sessions: dict[str, list[Message]] = {}
    number = ""
    for id_, text, match in zip(ids, texts, named, strict=True):
        title = text_of(documents[id_].get("title"))
        told = _SESSION.search(id_) or _SESSION.search(title)
        number = (told[1] or told[2]) if told else number
        who, said = (match[1], text[match.end() :]) if are_named and match else (_NOBODY, text)
        extra = extra_of({"title": title} if title else {}, where)
        sessions.setdefault(number, []).append(Message(id_, who, None, said, extra=extra))
    return tuple(Session(n, None, tuple(said)) for n, said in enumerate(sessions.values(), 1))


FORMAT = Format("LMEB folders", _sniff, _read)
