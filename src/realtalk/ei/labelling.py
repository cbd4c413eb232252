"""A corpus → labels of every turn. Whoever needs labels asks here; a chat is labelled once.

    labels_for(corpus, EmbeddedLabeller())               → Labels
    labels_for(corpus, labeller, out=Path("labels"))     the same, also as a run in a folder
    CachedLabels(turns, labeller).label(turns[:64])      → labels of some turns, one after another

labels/run.json  labels/labels.jsonl, .parquet: one row per turn

Labels are kept in the user's cache, a file per chat, under a hash of the labeller and of what it is
shown of the chat: no text, no ids, no times. A file is replaced whole after every block of turns,
so that a killed call loses one block. A labeller that `asks` is asked again for what it failed to
answer.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl

from realtalk.chat import Corpus
from realtalk.ei.encoder_choice import EncoderName
from realtalk.ei.label_files import KIND, TABLE, add_key, finish_labels, is_open, label_key
from realtalk.ei.labels import (
    ANSWERS,
    LABELS,
    LASTING,
    Label,
    Labeller,
    TurnInput,
    answers,
    input_languages,
    label_of,
    label_row,
    turn_inputs,
    version_for,
    versions_of,
)
from realtalk.ei.languages import chat_languages, language_notes
from realtalk.ei.protocols import rules_of
from realtalk.ei.results import Labels
from realtalk.errors import RealtalkError
from realtalk.evals.folder import RunFolder
from realtalk.evals.provenance import corpus_record
from realtalk.evals.rows import KEY
from realtalk.files.caches import KINDS, cache_limit, keep_within
from realtalk.files.download import cache_folder
from realtalk.files.progress import Progress, silent, within
from realtalk.files.writing import write_parquet

_IN_A_ROW = 4
# What is kept of a chat, to the last bit of what a labeller said.
KEPT = pl.Schema(
    {
        "turn": pl.Int32(),
        **{
            name: pl.Float64() if LABELS[name] == pl.Float32 else LABELS[name]
            for name in (*ANSWERS, "unscored")
        },
    }
)
_LAYOUT = 1


def settings_for(
    labeller: Labeller, encoders: Iterable[EncoderName], corpus: Mapping[str, str], protocol: str
) -> dict[str, Any]:
    """What run.json says of labels; the version names every encoder of the turns."""
    solver = {
        "name": labeller.name,
        "version": versions_of(labeller, encoders),
        "settings": dict(getattr(labeller, "settings", None) or {}),
    }
    return {"corpus": dict(corpus), "protocol": protocol, "solver": solver}


class CachedLabels:
    """Labels of whole chats: those that are in the cache, and others as they are asked for.

    `turns` are all turns of the chats, for a label may depend on any turn before; labels are made
    of those that `label` names. `fresh` makes them again.
    """

    def __init__(
        self,
        turns: Iterable[TurnInput],
        labeller: Labeller,
        cache: Path | None = None,
        *,
        fresh: bool = False,
    ) -> None:
        self._labeller = labeller
        self._asks = bool(getattr(labeller, "asks", False))
        cache_limit()  # before the slow part: what is set wrong is said at once
        folder = cache_folder(cache) / "labels"
        chats: dict[str, list[TurnInput]] = {}
        for turn in turns:
            chats.setdefault(turn.chat, []).append(turn)
        self.places = {
            chat: folder / f"{_content_key(labeller, some)}.parquet" for chat, some in chats.items()
        }
        self._labels = {
            chat: {} if fresh else _read_kept(place) for chat, place in self.places.items()
        }

    def label(self, wanted: Sequence[TurnInput], progress: Progress = silent) -> Iterator[Label]:
        """Labels of these turns, in order, as they are there."""
        total = len(wanted)
        step = getattr(self._labeller, "at_once", None) or max(1, total)
        for start in range(0, total, step):
            block = wanted[start : start + step]
            if missing := [turn for turn in block if self.find(turn) is None]:
                # Progress within a block is progress of the whole; who takes all counts alone.
                advance = progress if step >= total else within(progress, start, total)
                labels = self._labeller.label(missing, advance)
                for turn, label in zip(missing, labels, strict=True):
                    self._labels[turn.chat][turn.turn] = label
                self._save({turn.chat for turn in missing})
            yield from (self._labels[turn.chat][turn.turn] for turn in block)

    def find(self, turn: TurnInput) -> Label | None:
        """The label of a turn that needs no work."""
        label = self._labels[turn.chat].get(turn.turn)
        lasting = label is None or LASTING.issuperset(label.unscored.values())
        return label if lasting or not self._asks else None

    def _save(self, chats: Iterable[str]) -> None:
        known = ((chat, self._labels[chat].items()) for chat in chats)
        keep_labels(
            (self.places[chat], [{"turn": turn, **answers(label)} for turn, label in labels])
            for chat, labels in known
        )


def keep_labels(chats: Iterable[tuple[Path, Sequence[Mapping[str, Any]]]]) -> None:
    """Writes rows of chats at their places. Who may not write a cache labels all the same."""
    with suppress(OSError, RealtalkError):
        for place, rows in chats:
            write_parquet(place, pl.DataFrame(rows, schema=KEPT))
        keep_within(KINDS["labels"], place.parent, cache_limit(), place)


def _content_key(labeller: Labeller, turns: Sequence[TurnInput]) -> str:
    """A hash of who labels and of all that is shown of a chat."""
    contents = [(turn.session, turn.speaker, turn.text) for turn in turns]
    version = version_for(labeller, turns[0].encoder)
    who = (labeller.name, version, getattr(labeller, "settings", None) or {})
    content = json.dumps([_LAYOUT, who, contents], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()[:32]


def _read_kept(place: Path) -> dict[int, Label]:
    """Labels of a chat by turn; none of a file that is not there or is no longer whole."""
    try:
        frame = pl.read_parquet(place)
    except (OSError, pl.exceptions.PolarsError):
        return {}
    rows = frame.iter_rows(named=True) if frame.schema == KEPT else ()
    return {row["turn"]: label_of(row) for row in rows}


def labels_for(
    corpus: Corpus,
    labeller: Labeller | None = None,
    cache: Path | None = None,
    *,
    protocol: str = "turns",
    most: int | None = None,
    out: Path | None = None,
    fresh: bool = False,
    progress: Progress = silent,
) -> Labels:
    """Labels of a corpus: from the cache or the folder `out` where they are there, else made now.

    Args:
        corpus: What is labelled.
        labeller: Who labels; the encoders in this package unless another is named.
        cache: Cache folder, the user's own by default.
        protocol: Whether turns or single messages are labelled (see `protocols`).
        most: About so many turns are labelled, spread evenly; by default all.
        out: A folder for the labels as a run.
        fresh: Labels all again, and starts anew in `out`.
        progress: Hears of every turn that is labelled now.
    """
    if labeller is None:
        from realtalk.ei.embedded import EmbeddedLabeller

        labeller = EmbeddedLabeller()
    turns = turn_inputs(corpus, rules_of(protocol).joined)
    sample = turns if most is None or len(turns) <= most else spread(turns, most)
    encoders = (turn.encoder for turn in sample)
    settings = settings_for(labeller, encoders, corpus_record(corpus), protocol)
    keys = [label_key(turn.chat, turn.turn, protocol) for turn in sample]
    asks = bool(getattr(labeller, "asks", False))
    with RunFolder.open(out, KIND, settings, fresh=fresh) as run:
        table = run.table(TABLE, KEY)
        spoken = zip(keys, sample, input_languages(sample), strict=True)
        if missing := [(turn, code) for key, turn, code in spoken if is_open(table.get(key), asks)]:
            cached = CachedLabels(turns, labeller, cache, fresh=fresh)
            labels = cached.label([turn for turn, _ in missing], progress)
            for (turn, language), label in zip(missing, labels, strict=True):
                table.add(add_key(label_row(turn, label, language, labeller), protocol))
        return Labels(finish_labels(table, keys, settings), run.settings)


def spread(inputs: Sequence[TurnInput], most: int) -> list[TurnInput]:
    """About `most` turns, four in a row at a time, evenly over all of them.

    Turns in a row are needed to tell how somebody answers.
    """
    runs = max(1, most // _IN_A_ROW)
    step = len(inputs) / runs
    places = {int(run * step) + at for run in range(runs) for at in range(_IN_A_ROW)}
    return [inputs[at] for at in sorted(places) if at < len(inputs)]


def label_cautions(frame: pl.DataFrame, corpus: Corpus) -> tuple[str, ...]:
    """What has to be said beside every figure that is made from labels.

    Chats in another language than the labels are for, and chats that the shipped encoder learned
    from.
    """
    learned = learned_lines(corpus) if "embedded" in frame["measure"].unique().to_list() else ()
    return (*language_notes(chat_languages(frame)), *learned)


def learned_lines(corpus: Corpus) -> tuple[str, ...]:
    """Which chats the shipped encoders learned from: their labels of others are worse.

    The multilingual one learned from the English one's sets, and from conversations of its own,
    none of which is in English: a chat that is known by either was learned from by its encoder.
    """
    return tuple(
        f"{chat}: in-sample, the encoder learned from {name}; expect less on other chats"
        for chat, name in learned_chats(corpus)
    )


def learned_chats(corpus: Corpus) -> list[tuple[str, str]]:
    """The chats that the shipped encoders learned from, and the name by which each was known."""
    from realtalk.encoders.shipped import LearnedTexts

    both = (LearnedTexts.of("ei"), LearnedTexts.of("ei_multilingual"))
    found = []
    for chat in corpus.chats:
        texts = [message.text for message in chat.messages]
        if name := next(filter(None, (learned.chat(texts) for learned in both)), None):
            found.append((chat.id, name))
    return found
