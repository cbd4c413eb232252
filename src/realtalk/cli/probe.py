"""`probe`: which memory answers questions about a long chat, and at what cost."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from realtalk.cli import probe_several, probe_stored
from realtalk.cli.options import (
    Address,
    BaseUrl,
    Connections,
    Device,
    EngineName,
    FormatName,
    Gap,
    Json,
    Out,
    PricesFile,
    Rate,
    Target,
    Workers,
    opened,
    read_options,
)
from realtalk.cli.probe_options import (
    Budgets,
    BudgetWords,
    Categories,
    Fresh,
    GoldsName,
    JudgeName,
    Limit,
    MaxTokens,
    MemoryName,
    ModelName,
    Prompts,
    Protocol,
    ReaderName,
    RunFolder,
    Seed,
    Set,
    named,
    why_unscored,
    written_budgets,
)
from realtalk.cli.verbs import (
    RUN,
    Verbs,
    load_prices,
    show_costs,
)

if TYPE_CHECKING:
    from realtalk.chat import Corpus
    from realtalk.evals.prices import Prices
    from realtalk.memory.benchmark import ProbedRun

app = typer.Typer(
    cls=Verbs,
    help="Ask what a memory still knows of a long chat: evidence found, answers, cost. "
    "`realtalk probe PATH` is `realtalk probe run PATH`.",
    no_args_is_help=True,
)


@app.command(RUN)
def run(
    path: Target,
    memory: MemoryName = "retrieved",
    settings: Set = None,
    protocol: Protocol = None,
    reader: ReaderName = None,
    model: ModelName = None,
    base_url: BaseUrl = None,
    judge: JudgeName = None,
    prompts: Prompts = None,
    budget: Budgets = None,
    budget_words: BudgetWords = False,
    categories: Categories = "",
    limit: Limit = None,
    golds: GoldsName = "published",
    connections: Connections = 10,
    rate: Rate = None,
    max_tokens: MaxTokens = None,
    seed: Seed = 0,
    device: Device = "cpu",
    prices: PricesFile = None,
    out: Out = None,
    fresh: Fresh = False,
    engine: EngineName = None,
    workers: Workers = None,
    address: Address = None,
    format_name: FormatName = None,
    gap: Gap = "6h",
    json: Json = False,
) -> None:
    """Ask a corpus's questions of a memory and score what comes back.

    Writes run.json, rows.parquet (one row per question and budget, unscored with the reason) and
    timings.parquet. A run that was stopped goes on where it was: call it again. With --engine
    chats are probed at once, where no model is asked.

    Examples:

        realtalk probe sample --reader none --json

        realtalk probe sample --memory recent --budget 1000,2000 --out probe-recent

        realtalk probe data/realtalk --engine processes --workers 4 --out probe-retrieved

        realtalk probe data/realtalk --memory events --model openai/gpt-4o-mini --judge
        anthropic/claude-sonnet-4-5 --out probe-events
    """
    from realtalk.cli.printing import progress
    from realtalk.memory.registry import parse_settings
    from realtalk.surface.benchmarks import probe

    known = load_prices(prices)
    with opened(path, format_name, read_options(gap)) as source:
        corpus = source.reading.corpus
    with progress("probing") as advance:
        probed = probe(
            corpus,
            memory,
            settings=parse_settings(settings or []),
            protocol=protocol,
            reader=reader,
            model=model,
            base_url=base_url,
            judge=judge,
            prompts=prompts,
            budget=written_budgets(budget, budget_words),
            categories=named(categories),
            limit=limit,
            golds=golds,
            connections=connections,
            rate=rate,
            max_tokens=max_tokens,
            seed=seed,
            device=device,
            out=out,
            fresh=fresh,
            engine=engine,
            workers=workers,
            address=address,
            progress=advance,
        )
    _print(probed.record, corpus, json, out, judge, known)


@app.command()
def rescore(
    folder: RunFolder,
    judge: JudgeName = None,
    prompts: Prompts = None,
    connections: Connections = 10,
    rate: Rate = None,
    audit: Annotated[
        Path | None,
        typer.Option(
            "--audit", metavar="FILE", help="A corrected audit, as the studio exports it."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Score a stored run's answers again; the reader is not asked again.

    Without a judge by the present formulas: a run that an earlier version made then stands
    beside new ones. With --judge also by another model. With --audit the audited figures are
    those of the corrected file.

    Examples:

        realtalk probe rescore probe-recent

        realtalk probe rescore probe-recent --judge openai/gpt-4o-mini

        realtalk probe rescore probe-recent --audit corrected.jsonl
    """
    from realtalk.cli.printing import progress, say
    from realtalk.corpora.audit import Audit
    from realtalk.errors import RealtalkError
    from realtalk.memory.benchmark import load_probe
    from realtalk.memory.rescoring import judge_run, rescore_run, same_formulas
    from realtalk.surface.choices import make_judge

    if judge is None and prompts is not None:
        raise RealtalkError("--prompts is for a judge", fix="name one with --judge")
    probed = load_probe(folder)
    judging = make_judge(
        judge, probed.answering, prompts=prompts, connections=connections, rate=rate
    )
    corrected = None if audit is None else Audit.read(audit)
    if judging is None or corrected is not None or not same_formulas(probed):
        probed, changes = rescore_run(folder, corrected)
        for line in changes.lines:
            say(line)
    if judging is not None:
        with progress("judging") as advance:
            probed = judge_run(probed, judging, advance)
    _print(probed, None, json, folder, judge)


@app.command()
def contexts(
    path: Target,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="A JSONL file.")],
    memory: MemoryName = "retrieved",
    settings: Set = None,
    protocol: Protocol = None,
    budget: Budgets = None,
    budget_words: BudgetWords = False,
    categories: Categories = "",
    limit: Limit = None,
    format_name: FormatName = None,
    gap: Gap = "6h",
) -> None:
    """Write what each question would be shown, for readers elsewhere.

    One line per question: chat, id, budget, category, question, context, tokens, words and
    message_ids.

    Examples:

        realtalk probe contexts sample --memory events --budget 2000 --out contexts.jsonl
    """
    import orjson

    from realtalk.cli.printing import progress, say
    from realtalk.errors import RealtalkError
    from realtalk.local.writing import atomic_path, check_holder
    from realtalk.memory.asking import Plan
    from realtalk.memory.asking import contexts as recall
    from realtalk.memory.readers import NoReader
    from realtalk.memory.registry import parse_settings
    from realtalk.surface.choices import budgets_of, memory_of

    with opened(path, format_name, read_options(gap)) as source:
        corpus = source.reading.corpus
    plan = Plan(
        corpus,
        memory_of(memory, parse_settings(settings or []), protocol),
        NoReader(),
        budgets_of(memory, "extract", budget, budget_words),
        named(categories) or None,
        limit,
    )
    if out.is_dir():
        raise RealtalkError("is a folder", where=str(out), fix="name a file: contexts.jsonl")
    written = 0
    with (
        progress("recalling") as advance,
        atomic_path(check_holder(out)) as temporary,
        temporary.open("wb") as stream,
    ):
        for row in recall(plan, advance):
            stream.write(orjson.dumps(row) + b"\n")
            written += 1
    say(f"wrote {written:,} contexts to {out}")


@app.command()
def score(
    path: Target,
    answers: Annotated[
        Path, typer.Argument(metavar="ANSWERS", help="JSONL with chat, id and answer on each line.")
    ],
    judge: JudgeName = None,
    prompts: Prompts = None,
    golds: GoldsName = "published",
    connections: Connections = 10,
    rate: Rate = None,
    out: Out = None,
    fresh: Fresh = False,
    format_name: FormatName = None,
    gap: Gap = "6h",
    json: Json = False,
) -> None:
    """Score answers that came from anywhere: a batch API, another program, a person.

    A question without an answer, or with an empty one, is unscored, not wrong. Lines of `probe
    contexts` with an `answer` will do: their budget and message_ids are taken over.

    Examples:

        realtalk probe score sample answers.jsonl

        realtalk probe score sample answers.jsonl --judge openai/gpt-4o-mini --out probe-answers
    """
    from realtalk.cli.printing import progress
    from realtalk.memory.answers_elsewhere import read_answers, score_answers
    from realtalk.memory.golds import golds_named
    from realtalk.memory.rescoring import judge_run
    from realtalk.surface.choices import make_judge

    with opened(path, format_name, read_options(gap)) as source:
        corpus = source.reading.corpus
    judging = make_judge(judge, {}, prompts=prompts, connections=connections, rate=rate)
    with progress("scoring") as advance:
        right = golds_named(golds)
        probed = score_answers(corpus, read_answers(answers), out, fresh=fresh, golds=right)
        if judging is not None:
            probed = judge_run(probed, judging, advance)
    _print(probed, corpus, json, out, judge)


def _print(
    probed: ProbedRun,
    corpus: Corpus | None,
    json: bool,
    out: Path | None,
    judge: str | None,
    prices: Prices | None = None,
) -> None:
    from realtalk.cli.printing import end_unscored, print_json, say, show
    from realtalk.evals.prices import cost_json
    from realtalk.memory.judging import SAME
    from realtalk.memory.published import is_published
    from realtalk.memory.tables import (
        answer_rows,
        cost_rows,
        published_rows,
        retrieval_rows,
        unscored_lines,
    )

    scores = probed.scores
    if json:
        money = {} if prices is None else {"money": cost_json(probed.usage, prices)}
        print_json({**probed.to_json(), **money})
    else:
        memory, reader = probed.memory, probed.reader
        seen = " (in-sample)" if probed.cautions else ""
        if scores.retrieval is not None and scores.retrieval.overall.means:
            show(f"{memory}: evidence found{seen}", *retrieval_rows(scores.retrieval))
        if scores.answers:
            show(f"{memory}, read by {reader}{seen}", *answer_rows(scores))
            if corpus is not None and is_published(corpus):
                who = probed.model or reader
                show("beside the REALTALK paper", *published_rows(scores, who, memory))
        show("what it cost", *cost_rows(scores))
        show_costs(probed.usage, prices)
    for line in (*probed.cautions, *unscored_lines(scores)):
        say(line)
    if out is not None:
        say(f"the run is in {out}")
    end_unscored(why_unscored(probed))
    if judge is not None:
        end_unscored(why_unscored(probed, probed.model if judge == SAME else judge))


probe_several.register(app)
probe_stored.register(app)
