"""Stored scores of a language model's run → the page's part about it, with what must hold.

    second_round(Path("research/results/rows/persona"), out)    → ["## Qwen2.5 …", "### What must hold", …]

A folder below research/results/rows/persona that has tuned + retrieved runs is one model's (persona_rows.py
makes it). Verdicts go by speakers. Everything that is claimed of a way of writing is corrected
together, by Holm, and a line says what is left when both ways are: of ten speakers the exact test
gives no p below .002, so that more than 25 tests at once could not give any below .05.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from realtalk.evals.comparing import RunComparison
from realtalk.evals.run import Run
from realtalk.metrics.statistics import holm
from realtalk.persona.choosing import TABLE_2
from realtalk.persona.scoring import SCORES
from research.papers.markdown import table as markdown
from research.results.persona_claims import (
    CONTENT,
    ENOUGH,
    SIX,
    both_sides,
    gained,
    moved,
    names,
    verdict,
)
from research.results.persona_curve import curve
from research.results.persona_guessed import who_wrote_it
from research.results.persona_tables import (
    beyond,
    compare,
    fact_average,
    table_2,
    title_of,
    unscored,
)

WAYS = ("greedy", "sampled")
BEST = "tuned+retrieved"
HOWS = ("untuned", "styled", "retrieved", "tuned", BEST)
CONTROLS = ("constant", "copy", "common", "retrieve")
DISTANCES = ("js_emotion", "js_sentiment")
CLAIMED = (*SIX, *CONTENT, *DISTANCES, "taken_for")
TAKEN = 0.80
Both = Mapping[str, Run]


def second_round(folder: Path, out: Path) -> list[str]:
    """Every model's part, the largest first; nothing where there is none yet."""
    models = [each for each in folder.glob("*/") if any(each.glob(f"{BEST}-*/"))]
    curves = [each for each in folder.glob("*/") if any(each.glob("nall-*/"))]
    parts: list[str] = []
    for place in sorted(models, key=lambda each: each.name, reverse=True):
        parts += one_model(place)
    for place in sorted(curves, key=lambda each: each.name, reverse=True)[:1]:
        runs = {each.name: Run.load(each) for each in sorted(place.glob("n*-*/"))}
        parts += [f"## How many own turns are enough ({place.name})", CURVE, curve(runs, out)]
    return parts


CURVE = (
    "Adapters trained alike on a speaker's last 25, 50, 100, … own turns of the learned chat (of which a tenth "
    "is held out, as ever), with contexts of at most 500 tokens, against the same model untuned. Nobody in REALTALK wrote "
    "400 turns in one chat: the longest have 357."
)


def one_model(folder: Path) -> list[str]:
    runs = {
        each.name: Run.load(each)
        for each in sorted(folder.glob("*/"))
        if each.name.partition("-")[0] in {*HOWS, *CONTROLS}
    }
    both = {name: run.with_name(name) for name, run in runs.items()}
    ways = {way: tests(both, way) for way in WAYS if f"{BEST}-{way}" in both}
    order = [*CONTROLS, *(f"{how}-{way}" for how in HOWS for way in WAYS)]
    order += [f"{how}-matched-{way}" for how in ("untuned", BEST) for way in WAYS]
    shown = [both[name] for name in order if name in both]
    parts = [
        f"## {folder.name}",
        head(runs),
        machine(folder),
        "### What must hold",
        must_hold(ways, both, primary(folder, ways)),
        "### The same beside what needs no model",
        beside_dummies(both, ways),
        "### Beside Table 2",
        markdown(*table_2(shown, published=True)),
        "\n".join(f"- {line}" for each in shown for line in unscored(each)),
        "### Beyond the paper",
        markdown(*beyond(shown)),
        "### What fine-tuning moves",
        table_2_moves(ways),
        "### Each part alone",
        alone(both, primary(folder, ways) or next(iter(ways))),
        *who_wrote_it(folder),
    ]
    return [part for part in parts if part]


def tests(both: Both, way: str) -> dict[str, RunComparison]:
    """By the second side: what it is against untuned, and the pair of equal length."""
    found = {
        how: against(both, f"untuned-{way}", f"{how}-{way}")
        for how in HOWS[1:]
        if f"{how}-{way}" in both
    }
    if f"untuned-matched-{way}" in both and f"{BEST}-matched-{way}" in both:
        found["matched"] = against(both, f"untuned-matched-{way}", f"{BEST}-matched-{way}")
    return found


def against(both: Both, first: str, second: str) -> RunComparison:
    return compare(both[first], both[second])


def head(runs: Mapping[str, Run]) -> str:
    settings = runs[next(name for name in runs if name.startswith(BEST))].settings
    context, told = settings["context"], settings["solver"]["settings"]
    return (
        f"{told.get('base')}; the chats of {len(settings['chats'])} speakers, contexts of "
        f"{context['context_sessions']} sessions and at most {context['context_tokens']:,} tokens. *Retrieved* shows "
        f"the {told.get('examples')} own turns of the learned chat whose contexts are nearest; *tuned* is LoRA of rank "
        f"{told.get('rank')} at a learning rate of {told.get('learning_rate')}, at most {told.get('epochs')} epochs, of which the "
        "one that foretells the held-out last tenth best is kept; *tuned+retrieved* learned with such prompts. *Matched* is "
        "the length control: both sides cut, turn by turn, to the words of the shorter."
    )


def machine(folder: Path) -> str:
    """What was chosen before the tested chats, and what training took."""
    lines = []
    if (path := folder / "chosen.json").is_file():
        told = json.loads(path.read_text("utf-8"))
        losses = ", ".join(f"{rate}: {loss:.3f}" for rate, loss in told["held_out"].items())
        lines.append(
            f"Learning rate {told['chosen']} by the held-out loss of {' and '.join(told['speakers'])} ({losses}), "
            f"written down {told['at'][:16]} UTC, before any turn of a tested chat."
        )
    if (path := folder / "ways.json").is_file():
        told = json.loads(path.read_text("utf-8"))["chosen"]
        said = ", ".join(f"{how} {way}" for how, way in told.items())
        lines.append(f"By held-out turns of the learned chats the best way of writing is: {said}.")
    if (path := folder / "report.json").is_file():
        lines += trained(json.loads(path.read_text("utf-8")))
    return "\n".join(f"- {line}" for line in lines)


def trained(report: Mapping[str, Any]) -> list[str]:
    lines = []
    for how, title in (("k3 ", "tuned"), (f"k3-{BEST} ", BEST)):
        known = [each for name, each in report["trained"].items() if name.startswith(how)]
        losses = [(each["untuned"], each["epochs"][each["kept"] - 1]["held_out"]) for each in known]
        if losses:
            before, after = (sum(side) / len(side) for side in zip(*losses, strict=True))
            lines.append(f"Held-out loss per token, {title}: {before:.3f} → {after:.3f}.")
    lines += [f"{line}." for line in report.get("rate_lines", [])]
    return lines


def primary(folder: Path, ways: Mapping[str, Any]) -> str | None:
    """The way of writing that held-out turns chose for tuned + retrieved."""
    path = folder / "ways.json"
    chosen = json.loads(path.read_text("utf-8"))["chosen"].get(BEST) if path.is_file() else None
    return str(chosen) if chosen in ways else None


def corrected(found: Mapping[str, RunComparison]) -> dict[str, float | None]:
    """Everything that is claimed of a way, and the control, corrected together."""
    places = list(CLAIMED)
    values = [found[BEST].changes[name].p for name in CLAIMED]
    if "matched" in found:
        places.append("matched")
        values.append(found["matched"].changes["taken_for"].p)
    return dict(zip(places, holm(values), strict=True))


def must_hold(
    ways: Mapping[str, Mapping[str, RunComparison]], both: Both, chosen: str | None
) -> str:
    cells = [verdicts(found, corrected(found)) for found in ways.values()]
    rows = [(asked, *(each[asked] for each in cells)) for asked in cells[0]]
    headings = [f"{way} (chosen on held-out turns)" if way == chosen else way for way in ways]
    tests_of_one = len(corrected(next(iter(ways.values()))))
    ceiling = fact_average(both[f"{BEST}-{next(iter(ways))}"], "ceiling").value
    told = f"Corrected within a way, over all {tests_of_one} tests of it. {all_ways(ways)}"
    if ceiling is not None:
        told += f" The speakers' own turns are taken for theirs at {ceiling:.2f}."
    return f"{markdown(('asked', *headings), rows)}\n\n{told}"


DUMMIES = {
    "copy": "repeats what was just said",
    "common": "one own sentence, always the same",
    "retrieve": "the own turn whose context is nearest",
}
SET_BESIDE = ("semantic", "cosine", "js_emotion", "js_sentiment", "taken_for")


def beside_dummies(both: Both, ways: Mapping[str, Any]) -> str:
    """What beats an untuned model may still be beaten by a rule without any model."""
    rows = []
    for way in ways:
        for dummy, does in DUMMIES.items():
            if dummy not in both:
                continue
            found = against(both, dummy, f"{BEST}-{way}")
            cells = []
            for name in SET_BESIDE:
                better, worse = found.further["better"][name]
                p = found.changes[name].p
                told = "unknown" if p is None else f"{p:.3f}".removeprefix("0")
                cells.append(f"{both_sides(found, name, 3)}; {better} / {worse}, p {told}")
            rows.append((way, f"{dummy} ({does})", *cells))
    titles = [title_of(name) for name in SET_BESIDE]
    return (
        f"From the dummy to {BEST}: the mean over speakers, for how many speakers the model is better / worse, and p of the "
        "exact test over speakers, not corrected. By content and by the mix of emotions repeating what was said is at least as near "
        "to what the person wrote; one sentence for every turn is always taken for the speaker.\n\n"
        + markdown(("way", "dummy", *titles), rows)
    )


def all_ways(ways: Mapping[str, Mapping[str, RunComparison]]) -> str:
    """The same with every way corrected together."""
    places = [(way, name) for way in ways for name in CLAIMED]
    values = holm([ways[way][BEST].changes[name].p for way, name in places])
    won = dict.fromkeys(ways, 0)
    for (way, name), p in zip(places, values, strict=True):
        won[way] += name in SIX and gained(ways[way][BEST], name, p)
    told = ", ".join(f"{way} {count} of six" for way, count in won.items())
    speakers = max(
        change.groups for found in ways.values() for change in found[BEST].changes.values()
    )
    least = 2 / 2**speakers
    return (
        f"With all {len(places)} tests of both ways together the EI scores won are: {told} (of "
        f"{speakers} speakers the exact test gives no p below {least:.3f}, so that no more than "
        f"{int(ENOUGH / least)} tests at once can be beyond chance)."
    )


def verdicts(found: Mapping[str, RunComparison], p: Mapping[str, float | None]) -> dict[str, str]:
    test = found[BEST]
    won = [name for name in SIX if gained(test, name, p[name])]
    worse = [name for name in SIX if gained(test, name, p[name], sign=-1)]
    better = [name for name in CONTENT if gained(test, name, p[name])]
    lost = [name for name in CONTENT if gained(test, name, p[name], sign=-1)]
    cells = {
        "tuned + retrieved beats untuned on at least four of six EI scores, worse on none": verdict(
            len(won) >= 4 and not worse,
            f"{len(won)} of six ({names(won)}); worse on: {names(worse)}",
        )
    }
    for name in DISTANCES:
        nearer = test.further["better"][name][0]
        cells[f"{title_of(name)} nearer for at least eight of ten"] = verdict(
            nearer >= 8, f"{nearer} of {test.changes[name].groups}; {both_sides(test, name, 3)}"
        )
    content = "; ".join(f"{title_of(name)} {both_sides(test, name, 3)}" for name in CONTENT)
    cells["content better"] = verdict(
        bool(better) and not lost, f"{content}; beyond chance: {names(better)}"
    )
    taken = test.changes["taken_for"].second or 0.0
    control = "no control was run"
    beaten = False
    if "matched" in found:
        beaten = gained(found["matched"], "taken_for", p["matched"])
        control = (
            f"at equal length {both_sides(found['matched'], 'taken_for', 2)}, p {_p(p['matched'])}"
        )
    cells[f"taken for the speaker at least {TAKEN:.2f}, the length-matched control also beaten"] = (
        verdict(
            taken >= TAKEN and beaten,
            f"{both_sides(test, 'taken_for', 2)}, p {_p(p['taken_for'])}; {control}",
        )
    )
    moves = {how: paper_moves(found[how]) for how in ("tuned", BEST) if how in found}
    cells["fine-tuning moves at least six of Table 2's eight columns the paper's way"] = verdict(
        any(count >= 6 for count, _ in moves.values()),
        "; ".join(
            f"{how} {count} of 8, {sure} of them beyond chance"
            for how, (count, sure) in moves.items()
        ),
    )
    return cells


def _p(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.3f}".removeprefix("0")


def paper_moves(found: RunComparison) -> tuple[int, int]:
    """Columns of Table 2 that move as in the paper, and how many of them beyond chance."""
    same = [move for move in moves_of(found) if move[2]]
    return len(same), sum(move[3] for move in same)


def moves_of(found: RunComparison) -> list[tuple[str, float, bool, bool]]:
    """(score, the paper's change, whether ours goes the same way, whether beyond chance)."""
    before, after = TABLE_2["without fine-tuning"].mean, TABLE_2["with fine-tuning"].mean
    rows = []
    for name, score in SCORES.items():
        if score.published and name in found.changes:
            theirs = after[score.published] - before[score.published]
            sure = (found.changes[name].p_holm or 1) < ENOUGH
            # Where the paper's average does not move, ours should not beyond chance.
            same = (theirs > 0) == (moved(found, name) > 0) if abs(theirs) > 1e-9 else not sure
            rows.append((name, theirs, same, sure))
    return rows


def table_2_moves(ways: Mapping[str, Mapping[str, RunComparison]]) -> str:
    sides = [(way, how) for way in ways for how in ("tuned", BEST) if how in ways[way]]
    known = {side: {move[0]: move for move in moves_of(ways[side[0]][side[1]])} for side in sides}
    rows = []
    for name, (_, theirs, _, _) in next(iter(known.values())).items():
        cells = []
        for way, how in sides:
            change = ways[way][how].changes[name].difference
            _, _, same, sure = known[way, how][name]
            said = "yes" if same else "no"
            cells.append(
                f"{change.value or 0:+.3f}, {said}{'' if sure else ' (not beyond chance)'}"
            )
        rows.append((title_of(name), f"{theirs:+.2f}", *cells))
    headings = ("score", "paper", *(f"{how} {way}: change, same way" for way, how in sides))
    return markdown(headings, rows)


def alone(both: Both, way: str) -> str:
    """What retrieval and tuning each add, and what the controls without a model do."""
    pairs = [(f"untuned-{way}", f"{how}-{way}") for how in HOWS[1:]]
    pairs += [(f"{how}-{way}", f"{BEST}-{way}") for how in ("retrieved", "tuned")]
    pairs += [(control, f"{BEST}-{way}") for control in CONTROLS]
    pairs.append((f"untuned-matched-{way}", f"{BEST}-matched-{way}"))
    rows = [
        (first, second, *sides(against(both, first, second)))
        for first, second in pairs
        if first in both and second in both
    ]
    shown = ("rouge_1", "semantic", "taken_for")
    headings = ("first", "second", "EI scores won", "lost", *map(title_of, shown))
    note = "Holm within a pair's content, EI, and what goes beyond the paper; these pairs are looked at, not claimed."
    return f"{markdown(headings, rows)}\n\n{note}"


def sides(found: RunComparison) -> Sequence[str]:
    won, lost = (
        [name for name in SIX if gained(found, name, found.changes[name].p_holm, sign)]
        for sign in (1, -1)
    )
    cells = [
        f"{both_sides(found, name, 2)}, p {_p(found.changes[name].p_holm)}"
        for name in ("rouge_1", "semantic", "taken_for")
    ]
    return [names(won), names(lost), *cells]
