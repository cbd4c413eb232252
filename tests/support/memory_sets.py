"""Invented chats in the layouts of published memory sets, for tests that read and probe them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Message = dict[str, Any]


def saved(path: Path, value: Any) -> Path:
    """A value as a JSON file, or a list of rows as one JSON line each."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = path.suffix == ".jsonl"
    text = "".join(json.dumps(row) + "\n" for row in value) if lines else json.dumps(value)
    path.write_text(text, "utf-8")
    return path


def beam_batch(*texts: str, first: int = 0, date: str | None = "March-15-2024") -> Message:
    """Texts of user and assistant in turn, two of them a turn; the date stands on the first."""
    said: list[Message] = [
        {"role": ("user", "assistant")[at % 2], "id": first + at, "content": f"{text} ->-> 1,{at}"}
        for at, text in enumerate(texts)
    ]
    said[0]["time_anchor"] = date
    turns = [said[at : at + 2] for at in range(0, len(said), 2)]
    return {"batch_number": 1, "time_anchor": None, "turns": turns}


BEAM_CHAT = [
    beam_batch("the kiln cracked at noon", "a new kiln takes weeks", "I ordered a blue one"),
    beam_batch("the blue kiln came", "good news", first=3, date="April-5-2024"),
]
BEAM_QUESTIONS = {
    "knowledge_update": [
        {"question": "Which kiln do I have?", "answer": "the blue one", "rubric": ["blue"]}
        | {"source_chat_ids": {"original_info": [0], "updated_info": [3]}}
    ],
    "event_ordering": [
        {"question": "In which order?", "answer": "", "source_chat_ids": [[2], "--"]}
    ],
    "abstention": [{"question": "Who sold it?", "ideal_response": "The chat does not tell."}],
}


def beam(folder: Path, chat: Any = None, questions: Any = None) -> Path:
    """A chat's folder."""
    saved(folder / "chat.json", BEAM_CHAT if chat is None else chat)
    asked = BEAM_QUESTIONS if questions is None else questions
    saved(folder / "probing_questions" / "probing_questions.json", asked)
    return folder


def _turn(who: str, text: str, **more: Any) -> Message:
    return {"speaker": who, "content": text, "is_query": False, "query_id": None, **more}


def _asking(id_: str, text: str, *uuids: str) -> list[Message]:
    about = {"category_name": "Dynamic Updating", "topic": "Pottery"}
    used = {"memory_session_uuids": list(uuids), "memory_used": [{"session_uuid": uuids[0]}]}
    query = _turn("User", text, **about) | {"is_query": True, "query_id": id_}
    return [query, _turn("Assistant", "the blue one", **used)]


REALMEM = {
    "_metadata": {"person_name": "Ada_Vale"},
    "dialogues": [
        {"session_uuid": uuid, "current_time": day, "dialogue_turns": turns}
        for uuid, day, turns in (
            (
                "a1",
                "2025-12-19 (Friday)",
                [_turn("User", "my kiln is blue"), _turn("Assistant", "ok")],
            ),
            ("b2", "2025-12-20 (Saturday)", [_turn("User", "the glaze is ash")]),
            ("c3", "2025-12-20", _asking("Q-1", "Which kiln is mine?", "a1", "c3")),
            ("d4", "soon", [_turn("User", "which kiln: the kiln is red now")]),
            ("e5", "2025-12-21", _asking("Q-2", "Which glaze and kiln?", "b2", "d4")),
        )
    ],
}


def locomo(folder: Path, chats: int = 2) -> Path:
    """LoCoMo's own file: chats of two sessions in May and in September."""
    samples = []
    for number in range(1, chats + 1):
        conversation: Message = {"speaker_a": "Ann", "speaker_b": "Bo"}
        for session, day in ((1, "8 May"), (2, "1 September")):
            conversation[f"session_{session}_date_time"] = f"1:56 pm on {day}, 2023"
            conversation[f"session_{session}"] = [
                {"speaker": who, "dia_id": f"D{session}:{at}", "text": f"{who} says {number}.{at}"}
                for at, who in ((1, "Bo"), (2, "Ann"), (3, "Bo"))
            ]
        qa = [
            {"question": f"What says Bo {at}?", "answer": f"{number}.{at}", "category": 1}
            | {"evidence": [f"D1:{at}"]}
            for at in (1, 2, 3)
        ]
        asked = {"question": "What did Bo sell?", "adversarial_answer": "tea", "category": 5}
        qa.append(asked | {"evidence": ["D2:1"]})
        samples.append({"sample_id": f"conv-{number}", "qa": qa, "conversation": conversation})
    return saved(folder / "locomo10.json", samples)


LOCOMO_PLUS = [
    {"relation_type": "causal", "time_gap": gap, "trigger_query": "A: so here I am again"}
    | {"cue_dialogue": cue}
    for gap, cue in (
        ("about two weeks later", "A: I learned to say no.\nB: Good for you."),
        ("three months later", "A: the roof leaks"),
        ("several years later", "A: I moved\nB: where to?"),
    )
]


def lmeb(folder: Path, *, candidates: bool = True, header: bool = False) -> Path:
    """One task of two scenes."""
    ids = [f"scene_{scene}_session_{at}_turn_1" for scene in (1, 12) for at in (1, 2)]
    texts = ("User: my kiln is blue", "Assistant: noted", "User: the glaze is ash", "Bo: fine")
    rows = [{"id": id_, "text": text, "title": ""} for id_, text in zip(ids, texts, strict=True)]
    saved(folder / "corpus.jsonl", rows)
    asked = ("Which kiln?", "Which glaze?")
    queries = [{"id": f"scene_{s}_q_0", "text": t} for s, t in zip((1, 12), asked, strict=True)]
    saved(folder / "queries.jsonl", queries)
    lines = ["query-id\tcorpus-id\tscore"] if header else []
    lines += [
        f"scene_1_q_0\t{ids[0]}\t1",
        f"scene_12_q_0\t{ids[2]}\t1",
        f"scene_1_q_0\t{ids[1]}\t0",
    ]
    (folder / "qrels.tsv").write_text("\n".join([*lines, "scene_12_q_0\tgone\t1", ""]), "utf-8")
    if candidates:
        scenes = (("scene_1", ids[:2]), ("scene_12", ids[2:]))
        listed = [{"scene_id": name, "candidate_doc_ids": some} for name, some in scenes]
        saved(folder / "candidates.jsonl", listed)
    return folder
