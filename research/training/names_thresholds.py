"""The tagger's chances on held-out texts → how redaction is to read them: prior.npy, settings.json.

    python -m research.training.names_thresholds --model src/realtalk_models/names
    python -m research.training.names_thresholds --model HALF --half 0     (to score on the other)

Labelled sentences are dense with names; of a chat's words one in twenty is one. So chances are read
beside how often the pieces of a word are in names at all (prior.npy, counted in the training data
and in lines of public dialogues), by a logistic regression: on chats of our own that were held out,
and on lines of dialogues that were not counted, whose words are no names unless they may be
(names_lines.py). What tells a name differs between languages, so each has weights beside those of
all, which are pulled towards nothing. No name of those chats was put into the lists. From the
first threshold on a word is replaced: where the share of names that are left and the words that go
wrongly together cost least (COST); from the second on that is sure. No chat of bench/names and no
test file is read. `--half` fits on every other held-out chat: `bench/names.py --held --half` scores
on those in between, so that no chat chooses the thresholds that it is scored with.
Persons, places and organisations are one thing to find.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression

from realtalk.encoders.name_tagger import NameTagger
from realtalk.encoders.tag_spans import NameWords, features, word_places, words_in
from research.training.names_chats import OWN, chats
from research.training.names_data import ALIKE, BUILD, KINDS, Tests, held_out, is_dev, load
from research.training.names_lines import WORD, lines, may_be_names, words_in_names

BORROWED = 150  # words of names of all languages beside a language's own
BY_LANGUAGE = 0.3  # how freely a language's weights differ from those of all
LINES = 0.25  # what all lines weigh beside the chats
# Of one word in 1,000 that goes wrongly: as much as this share of names left. At .03 fewer words go,
# and more names are left than before version 2; versions were held against each other there.
COST = 0.0125
SURE = 0.9
GRID = np.arange(0.05, 0.96, 0.025)
STEPS = 16  # of a log of odds
LANGUAGES = "ar de en es fr hi hi-Latn id it ja ko nl pl pt ru tr vi zh uk sv ro fa th".split()  # noqa: SIM905 - reads better


def counted(rows: list[Any], plain: list[Any], tokenizer: Any) -> Any:
    """The log of the odds that a piece is in a name."""
    seen, named = (np.zeros(tokenizer.get_vocab_size()) for _ in range(2))
    for some in (rows, plain):
        for at in range(0, len(some), 20_000):
            part = some[at : at + 20_000]
            encoded = tokenizer.encode_batch([r["t"] for r in part], add_special_tokens=False)
            for row, each in zip(part, encoded, strict=True):
                ids, places = np.array(each.ids, int), np.array(each.offsets).reshape(-1, 2)
                inside = np.zeros(len(ids), bool)
                for start, end, _ in row["s"]:
                    inside |= (places[:, 0] < end) & (start < places[:, 1])
                np.add.at(seen, ids, 1)
                np.add.at(named, ids[inside], 1)
    odds = np.log((named + 0.3) / (seen - named + 0.7))
    return np.clip(np.rint(odds * STEPS), -127, 127).astype(np.int8)


def fitted(
    values: Any, right: Any, weight: Any, langs: Any, own: list[str]
) -> tuple[Any, dict[str, Any]]:
    """Weights of nothing and of each feature, and what each language's are beside them."""
    mean, spread = values.mean(0), values.std(0).clip(1e-6)
    scaled = np.c_[np.ones(len(values)), (values - mean) / spread]
    parts = [scaled[:, 1:], *(BY_LANGUAGE * scaled * (langs == lang)[:, None] for lang in own)]
    model = LogisticRegression(C=1.0, max_iter=3000).fit(np.hstack(parts), right, weight)
    width = scaled.shape[1]

    def unscaled(found: Any) -> Any:
        return np.r_[found[0] - (found[1:] * mean / spread).sum(), found[1:] / spread]

    coefficients = model.coef_[0]
    first = unscaled(np.r_[model.intercept_, coefficients[: width - 1]])
    rest = BY_LANGUAGE * coefficients[width - 1 :].reshape(len(own), width)
    return first, {lang: unscaled(each) for lang, each in zip(own, rest, strict=True)}


def counted_at(chance: Any, right: Any) -> Any:
    """Per cut: how many words are replaced, how many of them are names; names and words there are."""
    taken = chance[:, None] >= GRID
    every = [np.full(len(GRID), count) for count in (right.sum(), len(right))]
    return np.stack([taken.sum(0), (taken & right[:, None]).sum(0), *every]).astype(float)


def best_cut(counts: Any, price: float) -> float:
    """Where names left and words that go wrongly cost least."""
    taken, found, there, words = counts
    cost = 1 - found / np.maximum(there, 1e-9) + price * 1000 * (taken - found) / words
    return float(GRID[int(np.argmin(cost))])


def sure_cut(counts: Any, first: float) -> float:
    """Above the first cut, from where on nearly all are right."""
    exact = counts[1] / np.maximum(counts[0], 1e-9)
    above = [cut for cut, share in zip(GRID, exact, strict=True) if share >= SURE]
    return float(min((cut for cut in above if cut > first), default=GRID[-1]))


def tell(name: str, counts: Any, cut: float) -> None:
    taken, found, there, words = counts[:, int(np.argmin(abs(GRID - cut)))]
    wrong = 1000 * (taken - found) / words
    shares = f"left {1 - found / max(there, 1):.3f}, wrong per 1,000 {wrong:.1f}"
    print(f"{name:8} from {cut:.3f}: {shares}, {there:.0f} of {words:.0f} words are names")


def rounded(values: Any) -> list[float]:
    return [round(float(each), 4) for each in values]


class Words(NamedTuple):
    """Words of held-out texts: what tells of each, whether it is a name, and where it is from."""

    values: Any
    right: Any
    chat: Any  # its number among those held out; below nothing in a line
    lang: Any

    def some(self, kept: Any) -> Words:
        return Words(*(each[kept] for each in self))


def gathered(options: argparse.Namespace) -> Words:
    """Runs the tagger on held-out texts; writes prior.npy."""
    rng = random.Random(1)
    lists = NameWords.load(options.model / "words.npz")
    labelled = [*load(options.data), *chats()]
    names = words_in_names(labelled)
    tests = Tests(options.tests, options.chats)
    plain = [r for r in lines(options.dialogues, tests, rng) if r["l"] in LANGUAGES]
    held = [row for row in plain if is_dev(row["t"])]
    held += [row for row in plain if not is_dev(row["t"])][:: len(plain) // (options.each * 22)]
    known = {row["t"] for row in held}
    tagger = NameTagger(options.model)
    prior = counted(
        [row for row in labelled if not held_out(row)],
        [row for row in plain if row["t"] not in known],
        tagger._tokenizer,
    )
    np.save(options.model / "prior.npy", prior)
    print(f"{len(labelled):,} rows, {len(plain):,} lines counted", flush=True)
    dev: list[Any] = [row for row in labelled if row["src"] in OWN and held_out(row)]
    numbers = {number: at for at, number in enumerate(sorted({row["chat"] for row in dev}))}
    rows: list[tuple[Any, bool, int, str]] = []
    both = dev + held
    for row, (ids, offsets, chances) in zip(
        both, tagger.chances([r["t"] for r in both]), strict=True
    ):
        if not len(offsets):
            continue
        firsts = words_in(row["t"], offsets)
        places = word_places(offsets, firsts)
        looked = lists.features_of(row["t"], places)
        made, kinds = features(row["t"], places, firsts, chances, prior[ids] / STEPS, ALIKE, looked)
        best = kinds.argmax(1)
        maybe = may_be_names(row, names) if "as" in row else row["u"]
        for at, (start, end) in enumerate(places):
            if best[at] not in ALIKE or not WORD.search(row["t"][start:end]):
                continue
            if any(s < end and start < e for s, e in maybe):
                continue
            truth = next((k for s, e, k in row["s"] if s < end and start < e), None)
            rows.append((made[at], truth in ALIKE, numbers.get(row.get("chat"), -1), row["l"]))
    return Words(*(np.array(each) for each in zip(*rows, strict=True)))


def written(words: Words, folder: Path, price: float) -> None:
    """Fits weights and thresholds, and puts them into a folder's settings."""
    values, right, chat, langs = words.values, words.right, words.chat >= 0, words.lang
    weight = np.where(chat, 1.0, LINES * chat.sum() / max(1, (~chat).sum()))
    weights, by_language = fitted(values, right, weight, langs, sorted(set(langs[chat])))
    beside = np.array([by_language.get(lang, np.zeros_like(weights)) for lang in langs])
    odds = (np.c_[np.ones(len(values)), values] * (weights + beside)).sum(1)
    chance = 1 / (1 + np.exp(-odds))
    whole = counted_at(chance[chat], right[chat])
    cut = best_cut(whole, price)
    sure = sure_cut(whole, cut)
    tell("names", whole, cut)
    print(f"sure from {sure:.3f}")
    for lang in by_language:
        here = chat & (langs == lang)
        own = counted_at(chance[here], right[here])
        # Few names tell little: so many words of all languages count beside them.
        its = best_cut(own + whole * BORROWED / whole[2, 0], price)
        by_language[lang][0] += np.log(cut / (1 - cut)) - np.log(its / (1 - its))
        tell(lang, own, its)
    print(f"{right.sum():,} words of names, {chat.sum():,} of chats, {(~chat).sum():,} of lines")
    settings = json.loads((folder / "settings.json").read_text("utf-8"))
    settings["prior"], settings["prior_steps"] = "prior.npy", STEPS
    settings["words"] = "words.npz"
    settings["weights"] = rounded(weights)
    settings["names_among_words"] = round(float(right[chat].mean()), 4)
    settings["by_language"] = {lang: rounded(more) for lang, more in by_language.items()}
    for kind, name in enumerate(KINDS):
        if kind in ALIKE:
            settings["thresholds"][name] = [round(float(cut), 3), round(float(sure), 3)]
    text = re.sub(
        r"\[[^][{}]*\]", lambda each: " ".join(each[0].split()), json.dumps(settings, indent=1)
    )
    (folder / "settings.json").write_text(text + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=BUILD / "model")
    parser.add_argument("--data", type=Path, default=BUILD / "data.jsonl.xz")
    parser.add_argument("--dialogues", type=Path, default=Path("../shared/data/multilingual"))
    parser.add_argument("--tests", type=Path, default=Path("../shared/data/names"))
    parser.add_argument("--chats", type=Path, default=Path(__file__).parents[2] / "bench/names")
    parser.add_argument("--half", type=int, choices=(0, 1), help="fit on these chats alone")
    parser.add_argument("--each", type=int, default=150, help="lines of a language")
    parser.add_argument("--cost", type=float, default=COST, help="of a word in 1,000 that goes")
    options = parser.parse_args()
    words = gathered(options)
    if options.half is not None:
        words = words.some((words.chat < 0) | (words.chat % 2 == options.half))
    written(words, options.model, options.cost)


if __name__ == "__main__":
    main()
