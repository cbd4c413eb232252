"""Answers of a model that ran elsewhere → research/results/rows/memory-rows.parquet, without any text.

    python -m research.results.memory_rows ../shared/data/realtalk --prompts build/prompts.jsonl.xz \\
        --answers build/answers.jsonl --tokenizer qwen2.5-coder-1.5b
    → memory | budget | chat | question | category | verdict | f1 | f1_audited | … | tokens_in

Prompts are those of research/experiments/answers_prepare.py, answers those of
research/experiments/answers_run.py. With `--keep` rows of other sets stay in the table. Each answer is scored by the package's own formulas, once by the published golds and once by the
audited ones. Answers and golds themselves stay out of the table, since they repeat what was said
in the chats. `research/results/memory_results.py` makes the page.

The first `--early` answers come from a runner that did not stop at the end of a turn but at the
end of the text: what it wrote beyond the answer's own tokens is counted in `beyond`.
"""

from __future__ import annotations

import argparse
import json
import lzma
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from realtalk.chat import Corpus
from realtalk.evals.values import Answer, Row, Sample
from realtalk.formats.opening import open_reading
from realtalk.memory.asking import Plan
from realtalk.memory.benchmark import MemoryBenchmark
from realtalk.memory.golds import golds_named
from realtalk.memory.registry import make_memory
from realtalk.memory.remembering import NoReader
from realtalk.memory.rows import ANSWER_SCORES, BUDGET_SCORES, by_audit
from realtalk.memory.values import Context, RecalledAnswer, parse_budgets
from research.results import ROWS

OUT = ROWS / "memory-rows.parquet"
TELLING = frozenset({"events", "mem0"})  # memories that show their own words, not messages
OUTSIDE = frozenset({"langchain", "mem0"})
Key = tuple[str, str, str]  # set, chat, question
Count = Callable[[str], int]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("corpus")
    parser.add_argument("--prompts", type=Path, required=True)
    parser.add_argument("--answers", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, required=True, help="its folder")
    parser.add_argument("--early", type=int, default=0, help="answers of the first runner")
    parser.add_argument("--keep", action="store_true", help="rows of sets that are not given")
    given = parser.parse_args()
    sets, shown = read_prompts(given.prompts)
    with given.answers.open(encoding="utf-8") as stream:
        read = [json.loads(each) for each in stream]
    answers = {key(row): row | {"early": place < given.early} for place, row in enumerate(read)}
    if missing := shown.keys() - answers.keys():
        raise SystemExit(f"{len(missing)} prompts have no answer, among them {min(missing)}")
    corpus = open_reading(given.corpus).reading.corpus
    count = counting(given.tokenizer)
    made: list[Row] = []
    for title, about in sets.items():
        made += scored(corpus, (title, about), shown, answers, count)
        sys.stdout.write(f"{title}: {len(made):,} rows so far\n")
    table = frame(made)
    if given.keep:
        table = joined(pl.read_parquet(OUT), table)
    table.write_parquet(OUT, compression="zstd", compression_level=19)
    sys.stdout.write(f"{table.height:,} rows, {OUT.stat().st_size:,} bytes: {OUT}\n")


def joined(known: pl.DataFrame, new: pl.DataFrame) -> pl.DataFrame:
    """The rows of both; a set that is in both is the new one."""
    sets = ("memory", "budget")
    texts = [name for name, kind in new.schema.items() if kind == pl.Categorical]
    plain = [each.with_columns(pl.col(texts).cast(pl.String)) for each in (known, new)]
    kept = plain[0].join(plain[1].select(sets), on=sets, how="anti")
    return pl.concat([kept, plain[1]], how="vertical_relaxed").with_columns(
        pl.col(texts).cast(pl.Categorical)
    )


def scored(
    corpus: Corpus,
    of: tuple[str, Mapping[str, Any]],
    shown: Mapping[Key, Row],
    answers: Mapping[Key, Row],
    count: Count,
) -> list[Row]:
    """The rows of one set, as `realtalk probe` scores answers."""
    title, about = of
    # What a system from outside needs to run is not needed to score what it showed.
    memory = make_memory("none" if about["memory"] in OUTSIDE else about["memory"])
    plan = Plan(
        corpus,
        memory,
        NoReader(),
        parse_budgets(about["budget"]),
        golds=golds_named("published"),
    )
    samples = [
        sample
        for stage in plan.stages()
        for sample in stage.samples
        if (title, sample.group, sample.id) in shown  # some memories were told some chats only
    ]
    keys = [(title, sample.group, sample.id) for sample in samples]
    given = [answered(about, shown[each], answers[each]) for each in keys]
    rows = MemoryBenchmark(plan).score(samples, given)
    return [
        line(about, sample, row, answers[each], count)
        for sample, each, row in zip(samples, keys, rows, strict=True)
    ]


def read_prompts(path: Path) -> tuple[Mapping[str, Mapping[str, Any]], dict[Key, Row]]:
    """What each set is, and what every question was shown, without the words."""
    with lzma.open(path, "rt", encoding="utf-8") as stream:
        head = json.loads(next(stream))
        rows = (json.loads(each) for each in stream)
        return head["sets"], {key(row): row for row in rows if "set" in row}


def key(row: Row) -> Key:
    return row["set"], row["chat"], row["id"]


def counting(folder: Path) -> Count:
    """How many tokens of the model a text has."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)


def answered(about: Mapping[str, Any], prompt: Row, answer: Row) -> Answer[RecalledAnswer]:
    context = Context(
        "",
        tuple(prompt["message_ids"]),
        prompt["tokens"],
        prompt["words"],
        tells=about["memory"] in TELLING,
    )
    return Answer(RecalledAnswer(context, answer["answer"]))


def line(
    about: Mapping[str, Any], sample: Sample[Any, Any], row: Row, answer: Row, count: Count
) -> Row:
    """One row of the table: scores by both golds, and no text."""
    audited = by_audit(row)
    own = count(answer["answer"])
    return {
        "memory": about["memory"],
        "budget": about["budget"],
        "chat": sample.group,
        "question": sample.id,
        "category": row["category"],
        "verdict": row["verdict"],
        "learned": row["learned"],
        "unscored": row["unscored"],
        "left_out": _first(row["left_out"]),
        "left_out_audited": _first(audited["left_out"]),
        **{name: row[name] for name in (*ANSWER_SCORES, *BUDGET_SCORES)},
        **{f"{name}_audited": audited[name] for name in (*ANSWER_SCORES, *BUDGET_SCORES)},
        "context_tokens": row["tokens"],
        "context_words": row["words"],
        "tokens_in": answer["tokens_in"],
        "tokens_out": own,
        "ended": answer["ended"],
        "early": answer["early"],
        "beyond": answer["tokens_out"] - own,
    }


def _first(reasons: Sequence[str]) -> str | None:
    return reasons[0] if reasons else None


def frame(rows: Iterable[Row]) -> pl.DataFrame:
    found = pl.DataFrame(list(rows), infer_schema_length=None)
    # A column of reasons that nobody needed holds no text yet, and one of scores perhaps no number.
    scores = [
        f"{name}{end}" for name in (*ANSWER_SCORES, *BUDGET_SCORES) for end in ("", "_audited")
    ]
    texts = [
        name
        for name, kind in found.schema.items()
        if kind in (pl.String, pl.Null) and name not in scores
    ]
    whole = [name for name, kind in found.schema.items() if kind == pl.Int64]
    return found.with_columns(
        pl.col(texts).cast(pl.Categorical), pl.col(scores).cast(pl.Float32),
        pl.col(whole).cast(pl.Int32),
    )  # fmt: skip


if __name__ == "__main__":
    main()
