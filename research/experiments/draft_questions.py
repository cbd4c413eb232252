"""Chats and a model → drafted questions as a sheet to tick; the ticked sheet → how many survive.

    python -m research.experiments.draft_questions OUT --data DATA/realtalk [--model NAME] [--count 60]
    → OUT/NAME-drafts.jsonl for each corpus, OUT/sheet.csv
    python -m research.experiments.draft_questions OUT --data DATA/realtalk --draw
    → OUT/sheet.csv of 60 that stay and 20 that rules discard, not told apart
    python -m research.experiments.draft_questions OUT --ticked
    → {"sample": {"drafted": …, "kept": …, "dropped": {…}}, …, "stays": {"ticked": …, "survive": …,
       "mended": …, "fails": {"right": …}, …}, "discarded": {…}}

    python -m research.experiments.draft_questions OUT --data DATA/realtalk --rules
    → {"ok": {"stays": 247, "can be guessed: yes or no": 68, …}, "wrong": {"stays": 13, …}, …}

The last holds the rules that need no model against questions that people wrote, by the audit's
verdicts. With `--elsewhere` the model is on another machine, which needs nothing but torch: what
is not answered yet is written to OUT/prompts.jsonl.xz, `answers_run` answers it there, and the
same command takes OUT/answers.jsonl. Twice: for the drafts, then for what reads them.

    python -m research.experiments.draft_questions OUT --data DATA/realtalk --elsewhere
    python -m research.experiments.answers_run --prompts OUT/prompts.jsonl.xz --base QWEN.gguf --out RUN
    cat RUN/answers.jsonl >> OUT/answers.jsonl     # then the first line again

The rubric is that of docs/research/own-questions.md. In every column of it one writes 1 or 0;
`mended` is 1 where a changed word or answer would make it pass, which is counted apart. A question
survives with five ones. A third of the questions are of the sample, the others of REALTALK. The
sheet holds text of the chats: it stays where it was made.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import lzma
import os
import random
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import realtalk as rt
from realtalk.chat import Chat, Corpus, Question
from realtalk.files.writing import atomic_path
from realtalk.formats.audit import Audit, chat_key
from realtalk.memory.drafting import DraftedQuestion, Drafts, flaw_of
from realtalk.memory.values import MessageCosts
from realtalk.metrics.statistics import wilson
from research.experiments.prompt_files import lines

Row = dict[str, str]
RUBRIC = ("clear", "right", "only_one", "told_there", "worth_asking")
COLUMNS = ("corpus", "chat", "id", "kind", "question", "answer", "evidence", *RUBRIC, "mended")
DRAWN = {"sample": (20, 7), "realtalk": (40, 13)}  # that stay, that are discarded


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("out", type=Path)
    parser.add_argument("--data", type=Path, help="folder of REALTALK's chats")
    parser.add_argument("--model", help="as for probe draft; default: the local 1.5B")
    parser.add_argument("--base-url")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--elsewhere", action="store_true", help="the model is on another machine")
    parser.add_argument("--draw", action="store_true", help="a sheet of some, discarded ones too")
    parser.add_argument("--rules", action="store_true", help="the rules on published questions")
    parser.add_argument("--ticked", action="store_true", help="count the ticks of OUT/sheet.csv")
    given = parser.parse_args()
    sheet = given.out / "sheet.csv"
    if given.ticked:
        with sheet.open(encoding="utf-8", newline="") as stream:
            print(json.dumps(counted(drafts_in(given.out), [*csv.DictReader(stream)])))
        return
    if given.draw:
        corpora = {name: rt.read(source) for name, source in sources_of(given.data).items()}
        write_sheet(sheet, drawn(corpora, drafts_in(given.out)))
    elif given.rules:
        print(json.dumps(published_flaws(rt.read(given.data))))
    elif given.elsewhere:
        with replayed(given.out) as url:
            name = given.model or "qwen2.5-1.5b"
            draft_all(given, rt.Model(f"openai-api/elsewhere/{name}", base_url=url), fresh=True)
    else:
        model = None if given.model is None else rt.Model(given.model, base_url=given.base_url)
        draft_all(given, model)


def draft_all(given: argparse.Namespace, model: rt.Model | None, *, fresh: bool = False) -> None:
    """Drafts about every corpus, and the sheet."""
    rows: list[Row] = []
    sources = sources_of(given.data)
    for name, source in sources.items():
        share = given.count
        if len(sources) > 1:
            share = given.count * (1 if name == "sample" else 2) // 3
        corpus = rt.read(source)
        file = given.out / f"{name}-drafts.jsonl"
        drafts = rt.memory.draft(
            corpus, count=share, model=model, out=file, fresh=fresh, progress=_tell
        )
        rows += sheet_rows(name, corpus, drafts.kept)
    write_sheet(given.out / "sheet.csv", rows)


def sources_of(data: Path | None) -> dict[str, str]:
    return {"sample": "sample"} | ({"realtalk": str(data)} if data else {})


def drafts_in(folder: Path) -> dict[str, Drafts]:
    paths = sorted(folder.glob("*-drafts.jsonl"))
    return {path.name.removesuffix("-drafts.jsonl"): Drafts.read(path) for path in paths}


def write_sheet(sheet: Path, rows: Sequence[Row]) -> None:
    with atomic_path(sheet) as temporary, temporary.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    print(f"{len(rows)} questions to tick: {sheet}")


@contextmanager
def replayed(folder: Path) -> Iterator[str]:
    """A model on loopback that says what was answered elsewhere, and notes what was not.

    A prompt without an answer gets one that leads nowhere, in a cache that is thrown away.
    """
    file = folder / "answers.jsonl"
    answers = {row["id"]: row["answer"] for row in lines(file)} if file.exists() else {}
    open_prompts: dict[str, str] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            prompt = body["messages"][-1]["content"]
            key = hashlib.sha256(prompt.encode()).hexdigest()[:16]
            if key not in answers:
                open_prompts[key] = prompt
            nowhere = json.dumps({"question": "", "answer": "", "messages": []})
            message = {"role": "assistant", "content": answers.get(key, nowhere)}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            head = {"id": key, "object": "chat.completion", "created": 0, "model": body["model"]}
            raw = json.dumps({**head, "choices": [choice]}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *_: Any) -> None:
            """Prompts are people's words."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as cache:
        os.environ["REALTALK_CACHE"] = cache
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    server.shutdown()
    server.server_close()
    waiting = folder / "prompts.jsonl.xz"
    with atomic_path(waiting) as temporary, lzma.open(temporary, "wt", encoding="utf-8") as out:
        rows: list[dict[str, Any]] = [{"head": True, "max_tokens": 200}, {"context": 0, "text": ""}]
        rows += [
            {"set": "draft", "chat": "", "id": key, "context": 0, "before": prompt, "after": ""}
            for key, prompt in open_prompts.items()
        ]
        out.write("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    print(f"{len(open_prompts)} prompts without an answer: {waiting}")


def _tell(done: int, total: int, what: str) -> None:
    print(f"{done}/{total} {what}", flush=True)


def sheet_rows(name: str, corpus: Corpus, drafts: Sequence[DraftedQuestion]) -> list[Row]:
    """One row per draft, with its evidence as text."""
    of_chat: dict[str, list[Question]] = {}
    for draft in drafts:
        of_chat.setdefault(draft.chat, []).append(draft.question)
    return [
        {
            **{"corpus": name, "chat": chat.id, "id": question.id, "kind": question.category},
            **{"question": question.text, "answer": question.answer or ""},
            "evidence": _evidence(chat, question.evidence),
            **dict.fromkeys((*RUBRIC, "mended"), ""),
        }
        for chat in corpus.chats
        for question in of_chat.get(chat_key(chat), ())
    ]


def drawn(corpora: Mapping[str, Corpus], drafts: Mapping[str, Drafts]) -> list[Row]:
    """Some that stay and some that are discarded, in an order that does not tell which."""
    draw = random.Random(0)
    rows: list[Row] = []
    for name, (stay, discarded) in DRAWN.items():
        kept = drafts[name].kept
        dropped = [draft for draft in drafts[name].all if draft.dropped]
        for most, of in ((stay, kept), (discarded, dropped)):
            rows += sheet_rows(name, corpora[name], draw.sample(of, min(most, len(of))))
    draw.shuffle(rows)
    return rows


def _evidence(chat: Chat, ids: tuple[str, ...]) -> str:
    return MessageCosts(chat).context(ids).text


def published_flaws(corpus: Corpus) -> dict[str, dict[str, int]]:
    """What the rules say of a corpus's own questions, for each verdict of the audit."""
    flaws: dict[str, Counter[str]] = {}
    for chat in corpus.chats:
        audited = Audit.load_shipped().of(chat)
        for place, question in enumerate(chat.questions):
            if question.id in audited:
                flaw = flaw_of(question, chat, chat.questions[:place]) or "stays"
                flaws.setdefault(audited[question.id].verdict, Counter())[flaw] += 1
    return {verdict: dict(counts.most_common()) for verdict, counts in flaws.items()}


def counted(drafts: Mapping[str, Drafts], rows: Sequence[Row]) -> dict[str, Any]:
    """What was drafted and kept of every corpus, and the ticks of what stays and of the others."""
    found: dict[str, Any] = {}
    for name, each in drafts.items():
        kinds = Counter(draft.question.category for draft in each.all)
        kept = Counter(draft.question.category for draft in each.kept)
        by_kind = {kind: [kept[kind], kinds[kind]] for kind in kinds}
        sums = {"drafted": len(each.all), "kept": len(each.kept), "by_kind": by_kind}
        found[name] = {**sums, "dropped": each.reasons}
    stays = {(name, draft.question.id) for name, each in drafts.items() for draft in each.kept}
    for title, wanted in (("stays", True), ("discarded", False)):
        those = [row for row in rows if ((row["corpus"], row["id"]) in stays) == wanted]
        found[title] = survival(those)
        for name in drafts if those else ():
            found[title][name] = survival([row for row in those if row["corpus"] == name])
    return found


def survival(rows: Sequence[Row]) -> dict[str, Any]:
    """How many of the ticked rows pass every column; what fails is counted by column."""
    ticked = [row for row in rows if all(row[name].strip() in ("0", "1") for name in RUBRIC)]
    fails = Counter(name for row in ticked for name in RUBRIC if row[name].strip() == "0")
    survive = [row for row in ticked if all(row[name].strip() == "1" for name in RUBRIC)]
    mended = [row for row in ticked if row not in survive and row["mended"].strip() == "1"]
    kinds = Counter(row["kind"] for row in ticked)
    by_kind = {kind: [sum(r["kind"] == kind for r in survive), n] for kind, n in kinds.items()}
    counts: dict[str, Any] = {"ticked": len(ticked), "survive": len(survive), "mended": len(mended)}
    if ticked:
        passes = [float(row in survive) for row in ticked]
        counts["interval"] = [round(bound, 3) for bound in wilson(passes)]
    return {**counts, "fails": dict(fails), "by_kind": by_kind}


if __name__ == "__main__":
    main()
