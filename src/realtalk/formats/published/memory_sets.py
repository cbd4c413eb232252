"""Five sets that test memories, to a Corpus: BEAM, LoCoMo-Plus, LongMemEval, RealMem and LMEB.

    a chat to search, with its sessions      and questions that name the messages that answer them
    {"role": "user", "content": "hi"}        {"question": "…?", "source_chat_ids": [0]}
    → Message("D1:1", "user", None, "hi")    → Question("…?", evidence=("D1:1",))

Each set names messages and dates in its own way. Only sessions have dates: messages have no time.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import chain, islice, pairwise, repeat
from typing import Any

from realtalk.chat import Chat, Message, Question, Session, unpack_extra
from realtalk.files.download import cache_folder
from realtalk.files.naming import UniqueNames
from realtalk.formats.json_input import (
    BLANK,
    BROKEN,
    Fields,
    as_list,
    decode,
    drop_empty,
    items,
    json_lines,
    load,
    mapping,
    text_of,
    with_keys,
    without,
    word_set,
)
from realtalk.formats.published import locomo
from realtalk.formats.published.record import (
    Part,
    by_number,
    chat_part,
    corpus_format,
    extra_of,
    folders_with,
    gather,
    known_evidence,
    spelled_time,
    spoken_turns,
)
from realtalk.formats.questions import BEFORE_SESSION, EVIDENCE_BY, name_of
from realtalk.formats.reading import Format, Ledger, Leftover, ReadCorpus, ReadOptions
from realtalk.formats.sessions import sorted_by_time
from realtalk.formats.source import FormatFiles, Member, Source, matching

# BEAM's folders, one per chat, to a Corpus; sizes 100K, 500K, 1M and 10M.
#
#     100K/1/chat.json               [{"batch_number": 1, "turns": [[
#         {"role": "user", "id": 0, "content": "hi ->-> 1,1", "time_anchor": "March-15-2024"}]]}]
#     100K/1/probing_questions/probing_questions.json
#         {"knowledge_update": [{"question": "…?", "answer": "…",
#                                "source_chat_ids": {"original_info": [0], "updated_info": [4]}}]}
#     → Chat("100K-1", ("User", …)) with Message("0", "User", None, "hi"), and
#       Question("knowledge_update-1", …, evidence=("0", "4"))
#
# A batch is a session; the chats of 10M are plans of batches. The tail of a text that only repeats
# its place is taken off. Roles are written as names: a question about "user feedback" names nobody.
# Of two copies of a chat the shortened one is read: its questions were written for it. Where
# numbers begin anew in a chat (some of 1M do), nobody can tell which message is meant: such
# evidence is unresolved.

_TAIL = re.compile(r"\s*->->\s*[\d.,\s]*$")
_SHORTENED = "chat_trunecated"  # the publication's spelling
_QUESTIONS = ("probing_questions/probing_questions.json", "probing_questions.json")
_MESSAGE = frozenset({"role", "id", "content"})
_GOLDS = ("answer", "ideal_answer", "ideal_response", "ideal_summary", "expected_compliance")

_BEAM_FILES = FormatFiles(
    (".json",), with_keys("turns role content", "batch_number time_anchor"), "no chat of BEAM found"
)


def _read_beam(source: Source, options: ReadOptions) -> ReadCorpus:
    chats: dict[str, Member] = {}
    for member in sorted(_BEAM_FILES.members(source), key=lambda member: member.stem != _SHORTENED):
        chats.setdefault(member.folder, member)
    by_name = {member.name.removesuffix(".gz"): member for member in source.having(".json")}
    parts = []
    for member in options.in_turn(sorted(chats.values(), key=by_number)):
        places = (f"{member.folder}/{name}".lstrip("/") for name in _QUESTIONS)
        questions = next((by_name[place] for place in places if place in by_name), None)
        parts.append(_beam_chat(member, questions, member.folder.replace("/", "-") or source.name))
    return gather(source, "beam", parts)


def _beam_chat(member: Member, questions: Member | None, id_: str) -> Part:
    sessions: list[Session] = []
    leftovers: list[Leftover] = []
    ids = UniqueNames("{}~{}")
    numbers: Counter[str] = Counter()
    for number, batch in enumerate(_batches(load(member)), 1):
        messages = []
        dates = [mapping(batch).get("time_anchor")]
        where = f"{member.name}: batch {number}"
        for entry, message in spoken_turns(list(_entries(batch)), number, where, leftovers):
            name = text_of(entry.get("id")) or message.id
            numbers[name] += 1
            extra = drop_empty(without(entry, _MESSAGE))
            messages.append(
                replace(
                    message,
                    id=ids.free(name),
                    speaker=message.speaker.capitalize(),
                    text=_TAIL.sub("", message.text),
                    extra=extra_of(extra, member.where),
                )
            )
            dates.append(entry.get("time_anchor"))
        # "March-15-2024"
        times = (spelled_time(text_of(date).replace("-", " ")) for date in dates if date)
        sessions.append(Session(number, next(filter(None, times), None), tuple(messages)))
    if not numbers:
        raise member.error("holds no batch with messages")
    once = {number for number, count in numbers.items() if count == 1}
    asked = list(_asked(questions, once, leftovers)) if questions else []
    return chat_part(id_, sessions, asked, leftovers)


def _batches(value: Any) -> Iterator[Any]:
    """The batches in order; a plan of 10M is an object that holds them in lists."""
    for item in as_list(value):
        if isinstance(item, dict) and "turns" not in item:
            for plan in item.values():
                yield from as_list(plan)
        else:
            yield item


def _entries(batch: Any) -> Iterator[Any]:
    """Messages stand in turns, or without them."""
    turns = batch.get("turns") if isinstance(batch, dict) else batch
    for turn in as_list(turns):
        yield from turn if isinstance(turn, list) else [turn]


def _asked(member: Member, once: set[str], leftovers: list[Leftover]) -> Iterator[Question]:
    for ability, questions in mapping(load(member)).items():
        for at, entry in enumerate(map(mapping, as_list(questions)), 1):
            text = entry.get("question")
            if not isinstance(text, str):
                leftovers.append(Leftover(f"{member.name}: {ability}[{at - 1}]", "asks nothing"))
                continue
            golds = (text_of(entry[name]) for name in _GOLDS if entry.get(name) is not None)
            extra = {key: entry[key] for key in ("rubric", "difficulty") if entry.get(key)}
            yield Question(
                f"{ability}-{at}",
                text,
                next(golds, None),
                ability,
                extra=extra_of(extra, member.where),
                **known_evidence(_numbers(entry.get("source_chat_ids")), once),
            )


def _numbers(value: Any) -> Iterator[str]:
    """The numbers of messages in lists and objects of any depth."""
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _numbers(inner)
    elif value is not None:
        yield text_of(value)


BEAM = Format("BEAM folders", _BEAM_FILES.sniff, _read_beam)


# LoCoMo-Plus: a cue put into a LoCoMo chat, and a remark that must find it, to a Corpus.
#
#     [{"relation_type": "causal", "cue_dialogue": "A: I learned to say no.\nB: Good for you.",
#       "trigger_query": "A: I took on that project after all.", "time_gap": "two weeks later"}]
#     → Chat("conv-26, 1", …) with Message("cue:1", "Caroline", None, "I learned to say no."), …
#       and Question("1", "I took on that project after all.", …, evidence=("cue:1", "cue:2"))
#
# The publication's rule: entry i goes into chat i (beginning anew after the last), A and B become
# its two speakers; the remark is made a week after the last session, the cue as long before as the
# gap says, in a session of its own. A gap without a number counts as none. LoCoMo's own file
# (`locomo10.json`) must lie beside this one, or have been fetched: `realtalk data get locomo`.

_LOCOMO = "locomo10.json"
_NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve".split()  # noqa: SIM905
_DAYS = {"week": 7, "month": 30, "year": 365}
_GAP = re.compile(rf"\b(\d{{1,4}}|a|an|{'|'.join(_NUMBERS[1:])})\s+(week|month|year)s?\b")
_AFTER = timedelta(days=7)  # from the last session to the remark

_PLUS_FILES = FormatFiles(
    (".json",), with_keys("cue_dialogue trigger_query"), "no file of LoCoMo-Plus found"
)


def _read_plus(source: Source, options: ReadOptions) -> ReadCorpus:
    chats = [chat for chat in _locomo_chats(source, options) if _last(chat) is not None]
    if not chats:
        raise source.error("its LoCoMo file has no chat with dates")
    # Those of one chat side by side: what they share is searched for once.
    parts: list[list[Part]] = [[] for _ in chats]
    for member in options.in_turn(_PLUS_FILES.members(source)):
        for at, entry in enumerate(as_list(load(member))):
            part = _stitch(chats[at % len(chats)], entry, at + 1)
            lost = Leftover(f"{member.name}[{at}]", "has no cue or no remark")
            parts[at % len(chats)].append(part or ([], Ledger.of(0, [lost])))
    return gather(source, "locomo-plus", [part for alike in parts for part in alike])


def _locomo_chats(source: Source, options: ReadOptions) -> Sequence[Chat]:
    beside = [member for member in source.members if member.name.endswith(_LOCOMO)]
    if beside:
        return locomo.FORMAT.read(Source(source.path, tuple(beside[:1])), options).corpus.chats
    for path in (source.path.with_name(_LOCOMO), cache_folder() / "locomo" / _LOCOMO):
        if path.is_file():
            return locomo.FORMAT.read(Source.open(path), options).corpus.chats
    raise source.error(
        "its chats are LoCoMo's, which is not here",
        f"fetch it: realtalk data get locomo; or put {_LOCOMO} beside it",
    )


def _last(chat: Chat) -> datetime | None:
    return max((session.time for session in chat.sessions if session.time), default=None)


def days_of(gap: str) -> int:
    """`about two weeks later` → 14; 0 where no number is told."""
    match = _GAP.search(gap.lower())
    if match is None:
        return 0
    number = match[1]
    count = (
        int(number) if number.isdigit() else max(1, number in _NUMBERS and _NUMBERS.index(number))
    )
    return count * _DAYS[match[2]]


def _stitch(chat: Chat, entry: Any, number: int) -> Part | None:
    last = _last(chat)
    item = mapping(entry)
    # Who is A: the order of speakers is that of their first words, unless the file said otherwise.
    told = mapping(unpack_extra(chat.extra).get("conversation"))
    first = text_of(told.get("speaker_a")) or chat.speakers[0]
    others = [name for name in chat.speakers if name != first]
    people = {"A": first, "B": others[0] if others else "B"}
    cue = tuple(
        Message(f"cue:{at}", people[who], None, text)
        for at, (who, text) in enumerate(_lines(item.get("cue_dialogue")), 1)
    )
    remark = " ".join(text for _, text in _lines(item.get("trigger_query")))
    if not cue or not remark or last is None:
        return None
    asked = last + _AFTER
    time = asked - timedelta(days=days_of(text_of(item.get("time_gap"))))
    at = sum(session.time is None or session.time <= time for session in chat.sessions)
    sessions = [*chat.sessions[:at], Session(0, time, cue), *chat.sessions[at:]]
    question = Question(
        str(number),
        remark,
        None,
        text_of(item.get("relation_type")),
        tuple(message.id for message in cue),
        asked=asked,
    )
    numbered = [replace(session, number=n) for n, session in enumerate(sessions, 1)]
    return chat_part(f"{chat.id}, {number}", numbered, [question], ())


def _lines(text: object) -> Iterator[tuple[str, str]]:
    """`A: …` and `B: …`, line by line."""
    for line in text_of(text).split("\n"):
        who, colon, rest = line.strip().partition(":")
        if colon and who in ("A", "B") and rest.strip():
            yield who, rest.strip()


LOCOMO_PLUS = Format("LoCoMo-Plus JSON", _PLUS_FILES.sniff, _read_plus)


# LongMemEval's list of questions, each with its own haystack of sessions, to a Corpus.
#
#     [{"question_id": "q1", "question_type": "temporal-reasoning", "question": "When …?",
#       "answer": "in May", "question_date": "2023/10/02 (Mon) 04:40",
#       "haystack_session_ids": ["s1"], "haystack_dates": ["2023/04/11 (Tue) 07:47"],
#       "haystack_sessions": [[{"role": "user", "content": "hi", "has_answer": true}]],
#       "answer_session_ids": ["s1"]}]
#     → Chat("q1", ("user",), (Session(1, 2023-04-11 07:47, …),), questions=(Question("q1", …),))
#
# Sessions are put in time order; their own ids and places are in the chat's extra
# (`session_ids`, `order`). Only sessions have a date: messages have no time. Evidence is
# the turns marked `has_answer`. A question whose id ends in `_abs` asks for what was never
# said: its extra has `abstention`, its answer is kept as given. The file is streamed, one
# question at a time.

_TURN = ("role", "content")
# What becomes a field, a session or an id; everything else is kept in the question's extra.
_READ = word_set("""
    question_id question_type question answer question_date haystack_dates haystack_session_ids
    haystack_sessions answer_session_ids
    """)

_HAYSTACK_FILES = FormatFiles(
    (".json", ""),  # the official files have also been published without an ending
    with_keys("question_id question_type", "haystack_sessions haystack_dates haystack_session_ids"),
    "no LongMemEval file found",
)


def _read_haystacks(source: Source, options: ReadOptions) -> ReadCorpus:
    parts: list[Part] = []
    for member in _HAYSTACK_FILES.members(source):
        for index, item in enumerate(items(member)):
            parts.append(_haystack(item, f"{member.name}[{index}]"))
            if len(parts) % 50 == 0:
                options.progress(len(parts), 0, member.stem)
    return gather(source, "longmemeval", parts)


def _haystack(item: Any, where: str) -> Part:
    haystack = item.get("haystack_sessions") if isinstance(item, dict) else None
    if not isinstance(haystack, list) or not isinstance(item.get("question"), str):
        return [], Ledger.of(0, [Leftover(where, "is not a question with sessions")])
    leftovers: list[Leftover] = []
    id_ = text_of(item.get("question_id")) or where
    names = [text_of(name) for name in as_list(item.get("haystack_session_ids"))]
    dates = map(spelled_time, as_list(item.get("haystack_dates")))
    places = enumerate(islice(chain(dates, repeat(None)), len(haystack)))
    slots = sorted_by_time(Session(place, date, ()) for place, date in places)
    order = [slot.number for slot in slots]
    sessions, evidence = [], []
    for number, slot in enumerate(slots, 1):
        place = slot.number
        messages = []
        spot = f"{where}: haystack_sessions[{place}]"
        for turn, message in spoken_turns(haystack[place], number, spot, leftovers):
            if turn.get("has_answer") is True:
                evidence.append(message.id)
            # An unmarked turn and one marked false are the same.
            beyond = {
                key: value
                for key, value in turn.items()
                if key not in _TURN and not (key == "has_answer" and value is False)
            }
            messages.append(replace(message, extra=extra_of(beyond, where)) if beyond else message)
        sessions.append(Session(number, slot.time, tuple(messages)))
    extra = {
        "order": [place + 1 for place in order],
        "session_ids": [names[place] if place < len(names) else "" for place in order],
    }
    question = _haystack_question(item, id_, tuple(evidence), names, where)
    (chat,), ledger = chat_part(id_, sessions, [question], leftovers)
    return [replace(chat, extra=extra_of(extra, where))], ledger


def _haystack_question(
    item: Fields, id_: str, evidence: tuple[str, ...], sessions: list[str], where: str
) -> Question:
    extra = without(item, _READ)
    answer = item.get("answer")
    if answer is not None and not isinstance(answer, str):
        extra["answer"] = answer  # the number as a number
    if id_.endswith("_abs"):
        extra["abstention"] = True
    asked_at = spelled_time(item.get("question_date"))
    if asked_at is None and item.get("question_date") is not None:
        extra["question_date"] = item["question_date"]
    stated = tuple(text_of(name) for name in as_list(item.get("answer_session_ids")))
    return Question(
        id_,
        item["question"],
        None if answer is None else text_of(answer),
        name_of("longmemeval", item.get("question_type")),
        evidence,
        tuple(name for name in stated if name not in sessions),
        stated,
        asked_at,
        extra_of(extra, where),
    )


LONGMEMEVAL = Format("LongMemEval JSON", _HAYSTACK_FILES.sniff, _read_haystacks)


# RealMem's files, one per person, to a Corpus: questions asked in the middle of a long history.
#
#     {"_metadata": {"person_name": "Ada"}, "dialogues": [
#       {"session_uuid": "a1", "current_time": "2025-12-19 (Friday)", "dialogue_turns": [
#         {"speaker": "User", "content": "What was my plan?", "is_query": true, "query_id": "Q-1"},
#         {"speaker": "Assistant", "content": "To run.", "memory_session_uuids": ["9f"]}]}]}
#     → Chat("Ada", ("User", "Assistant"), …) with Question("Q-1", …, evidence=<messages of 9f>)
#
# Sessions stay in the file's order, whatever their dates say. A question's gold is on the turn that
# follows it: whole sessions, so it is scored by session (`evidence_by`), and only sessions before
# its own may be searched (`before_session`). A session that is not earlier is no evidence.

_REALMEM_FILES = FormatFiles(
    (".json",), with_keys("session_uuid dialogue_turns"), "no file of RealMem found"
)


def _realmem_chat(member: Member) -> Part:
    whole = mapping(load(member))
    dialogues = whole.get("dialogues")
    if not isinstance(dialogues, list):
        raise member.error("has no list of 'dialogues'")
    leftovers: list[Leftover] = []
    sessions: list[Session] = []
    earlier: dict[str, Session] = {}
    questions: list[Question] = []
    ids = UniqueNames("{}-{}")
    for number, dialogue in enumerate(map(mapping, dialogues), 1):
        where = f"{member.name}: dialogues[{number - 1}].dialogue_turns"
        turns = as_list(dialogue.get("dialogue_turns"))
        replies = {id(turn): reply for turn, reply in pairwise(turns)}
        time = spelled_time(dialogue.get("current_time"))
        spoken = list(spoken_turns(turns, number, where, leftovers, "speaker"))
        for turn, message in spoken:
            if turn.get("is_query") is True:
                extra = {BEFORE_SESSION: number, EVIDENCE_BY: "session"}
                extra |= {key: turn[key] for key in ("topic", "session_type") if turn.get(key)}
                question = Question(
                    ids.free(text_of(turn.get("query_id")) or message.id),
                    message.text,
                    category=re.sub(r"\W+", "_", text_of(turn.get("category_name")).lower()),
                    asked=time,
                    extra=extra_of(extra, member.where),
                    **_gold(mapping(replies.get(id(turn))), earlier),
                )
                questions.append(question)
        sessions.append(Session(number, time, tuple(message for _, message in spoken)))
        earlier[text_of(dialogue.get("session_uuid"))] = sessions[-1]
    name = text_of(mapping(whole.get("_metadata")).get("person_name")) or member.stem
    return chat_part(name, sessions, questions, leftovers)


def _gold(reply: Fields, earlier: Mapping[str, Session]) -> Fields:
    """What the turn behind a question says: its answer, and the sessions that it needs."""
    used = (mapping(memory).get("session_uuid") for memory in as_list(reply.get("memory_used")))
    named = map(text_of, (*as_list(reply.get("memory_session_uuids")), *used))
    gold = known_evidence(filter(None, named), earlier)
    messages = (message for uuid in gold["evidence"] for message in earlier[uuid].messages)
    answer = reply.get("content")
    return {
        **gold,
        "evidence": tuple(message.id for message in messages),
        "answer": answer if isinstance(answer, str) else None,
    }


REALMEM = corpus_format("RealMem JSON", "realmem", _REALMEM_FILES, _realmem_chat)


# LMEB's folders (queries, corpus, candidates, qrels) to a Corpus: one chat per scene.
#
#     user_evidence/queries.jsonl     {"id": "scene_0_q_1", "text": "What did I restore?"}
#     user_evidence/corpus.jsonl      {"id": "scene_0_session_1_turn_9", "text": "User: chairs",
#                                      "title": "Session 1, Turn 9"}
#     user_evidence/candidates.jsonl  {"scene_id": "scene_0", "candidate_doc_ids": [...]}
#     user_evidence/qrels.tsv         scene_0_q_1 <tab> scene_0_session_1_turn_9 <tab> 1
#     → Chat("scene_0", ("User", …)) with Question("scene_0_q_1", …, "user_evidence", evidence=(…,))
#
# A scene is what its queries may search: its candidates, in their order. Its id is the beginning of
# the ids of its queries; candidates may also be listed by query, and without any the whole corpus
# is one scene. A session is told by an id or a title, a speaker by the beginning of a text, where
# all texts of a scene have one. Answers are not published.

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


def _has_scenes(source: Source) -> bool:
    folders = _folders(source)
    first = tuple(files["corpus.jsonl"] for files in folders.values())[:1]
    return any(matching(Source(source.path, first), (".jsonl",), with_keys("text")))


def _read_scenes(source: Source, options: ReadOptions) -> ReadCorpus:
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
            sessions = _scene(scenes[name], documents, files["corpus.jsonl"].where)
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


def _scene(ids: Sequence[str], documents: Mapping[str, Fields], where: str) -> tuple[Session, ...]:
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


LMEB = Format("LMEB folders", _has_scenes, _read_scenes)
