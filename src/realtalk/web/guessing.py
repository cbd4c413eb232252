"""Who wrote it, guessed by people: the rounds of every chat, and the picks of every judge.

    room = GuessRoom(corpus, folder=Path("notes.guesses"), runs={"tuned": [Run.load(a)]})
    room.rounds(chat)[0]                  → TurnLineup(turn, (LineupReply(…), …)), by the seed
    room.introduce("Ana", knows=True)     whether she knows the chat, asked once
    room.pick(chat, 14, "Ana", 2)         the third reply that she is shown, kept at once

Every judge has the same rounds; the replies stand in an order of each judge's own. Picks are a run
of "who wrote it" (run.json, rows), whose variant is the judge: `runs table`, the report
and Python read it like a model's. Its texts stay in the folder, which is its owner's only.

Talk: somebody writes in the browser, a simulator answers as one of the chat's speakers.

    room = TalkRoom("Mara", "Theo", begin)      # begin(answer) → Talk; it asks for consent
    room.open("")                               raises NoConsent where nobody said yes yet
    room.open("given")                          the model is loaded, the talk begins or goes on
    for line in room.say("are you up?"): …      → b'{"piece":"bare"}\\n', …, b'{"text":"barely"}\\n'

The talk is the terminal's: the same simulators, the same consent, the same corpus in which what
was simulated is marked. One message is answered at a time; whoever leaves the page while a reply is
written finds it there later.
"""

from __future__ import annotations

import queue
import random
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from realtalk.chat import Chat, Corpus, Session, is_nobody
from realtalk.errors import RealtalkError, as_options
from realtalk.evals.folder import RunFolder, Table, corpus_record
from realtalk.evals.run import Run
from realtalk.evals.values import KEY, Answer, Row, Sample, row_of, run_schema
from realtalk.persona.guessing import (
    GUESS_COLUMNS,
    GUESSES,
    PEOPLE,
    GuessBenchmark,
    guess_row,
    replies_record,
    run_tasks,
    simulated_texts,
)
from realtalk.persona.lineups import LETTERS, LineupDraw, Origin, TurnLineup
from realtalk.persona.talking import Talk, question
from realtalk.persona.turns import speaker_turns
from realtalk.persona.values import PersonaTurn
from realtalk.text.words import words_and_emoji


class TalkRoom:
    """One talk, for all pages that show it."""

    def __init__(self, speaker: str, partner: str, begin: Callable[[str], Talk]) -> None:
        self.speaker, self.partner = speaker, partner
        self._begin = begin
        self._talk: Talk | None = None
        self._opening = threading.Lock()
        self._writing = threading.Lock()

    @property
    def question(self) -> str:
        """What somebody is asked before the first word, by name."""
        return question(self.speaker).strip()

    @property
    def sessions(self) -> tuple[Session, ...]:
        """What was said, here and earlier; nothing before it is opened."""
        return () if self._talk is None else self._talk.corpus.chats[0].sessions

    def open(self, answer: str) -> None:
        """Begins, or goes on; without a yes that is kept or given, nothing does."""
        with self._opening:
            if self._talk is None:
                self._talk = self._begin(answer)

    def say(self, text: str) -> Iterator[bytes]:
        """The reply as lines of JSON: pieces as they are written, then all of it, or an error."""
        talk = self._talk
        if talk is None:
            raise RealtalkError("the talk has not begun", fix="load the page again")
        if not self._writing.acquire(blocking=False):
            raise RealtalkError(f"{self.speaker} is still writing", fix="wait for the reply")
        pieces: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()

        def work() -> None:
            try:
                reply = talk.say(text, lambda piece: pieces.put({"piece": piece}))
                pieces.put({"text": reply})
            except RealtalkError as error:
                pieces.put({"error": as_options(str(error))})
            except BaseException:
                pieces.put({"error": "something went wrong; the terminal says where"})
                raise
            finally:
                self._writing.release()
                pieces.put(None)

        # A thread of its own: the reply is kept even where nobody waits for it any more.
        threading.Thread(target=work, daemon=True).start()
        return (orjson.dumps(piece) + b"\n" for piece in iter(pieces.get, None))


CONTEXT = 12  # turns that a judge is shown before the replies
_SESSIONS, _TOKENS = 3, 1500  # of a context where no persona run says it
_FEWEST_WORDS = 3  # of the real reply: nobody is known by "ok"
_ROUNDS = 50  # of a chat
_COUNTS = (2, 4)


class GuessRoom:
    """The rounds of a corpus and a folder for the picks; several pages may pick at once."""

    def __init__(
        self,
        corpus: Corpus,
        *,
        folder: Path,
        runs: Mapping[str, Sequence[Run]] | None = None,
        replies: int = 4,
        seed: int = 0,
    ) -> None:
        if replies not in _COUNTS:
            raise RealtalkError(f"{replies} replies cannot be shown", fix="show 2 or 4")
        self.folder = folder
        self._corpus = corpus
        self._simulated = simulated_texts(runs or {})
        simulated_runs = [run for several in (runs or {}).values() for run in several]
        self._tasks = run_tasks(corpus, simulated_runs) if simulated_runs else []
        self._replies = replies
        self._seed = seed
        self._rounds: dict[str, tuple[TurnLineup, ...]] = {}
        self._stored: tuple[RunFolder, Table, Table] | None = None
        self._lock = threading.RLock()

    # What is asked.

    def rounds(self, chat: Chat) -> tuple[TurnLineup, ...]:
        """The line-ups of a chat, in the order in which everybody gets them."""
        with self._lock:
            if chat.id not in self._rounds:
                self._rounds[chat.id] = tuple(self._lineups(chat))
            return self._rounds[chat.id]

    def order(self, lineup: TurnLineup, judge: str) -> list[int]:
        """Which reply stands where for this judge."""
        places = list(range(len(lineup.replies)))
        random.Random(f"{self._seed}/{judge}/{lineup.turn.id}").shuffle(places)
        return places

    @cached_property
    def _draw(self) -> LineupDraw:
        return LineupDraw(self._corpus, simulated=self._simulated, seed=self._seed)

    def _lineups(self, chat: Chat) -> Iterator[TurnLineup]:
        waiting = self._turns(chat)
        random.Random(f"{self._seed}/{chat.id}").shuffle(waiting)
        lineups = (
            self._draw.lineup(turn, test=chat, learn=learn, wanted=self._origins, context=CONTEXT)
            for turn, learn in waiting
            if len(words_and_emoji(turn.text)) >= _FEWEST_WORDS
        )
        return islice(filter(None, lineups), _ROUNDS)

    def _turns(self, chat: Chat) -> list[tuple[PersonaTurn, str | None]]:
        """Turns to ask about: those that were simulated, where anything was."""
        if self._tasks:
            return [
                (turn, task.learning.chat.id)
                for task in self._tasks
                if task.test.id == chat.id
                for turn in task.turns
            ]
        return [
            (turn, None)
            for name in chat.speakers
            if not is_nobody(name)
            for turn in speaker_turns(chat, name, _SESSIONS, _TOKENS)
        ]

    @property
    def _origins(self) -> tuple[Origin, ...]:
        """Beside the real one as many simulators as there is room for, then people."""
        origins: list[Origin] = ["simulated" for _ in self._simulated]
        people: list[Origin] = ["partner", "other", "other"]
        return tuple([*origins, *people][: self._replies - 1])

    # What is picked.

    def knows(self, judge: str) -> bool | None:
        """Whether a judge knows the chat; None where nobody has asked them yet."""
        with self._lock:
            row = self._judges.get((judge,)) if self._is_there else None
        return None if row is None else bool(row["knows"])

    def introduce(self, judge: str, *, knows: bool) -> None:
        """Keeps whether a judge knows the chat, before their first pick."""
        with self._lock:
            self._add(self._judges, {"judge": judge, "knows": knows, "at": _now()})

    def pick(self, chat: Chat, turn: int, judge: str, place: int) -> None:
        """Keeps which of the replies that a judge is shown they take for real."""
        lineups = {lineup.turn.prompt.place: lineup for lineup in self.rounds(chat)}
        if turn not in lineups:
            raise RealtalkError("no such round", where=f"chat {chat.id}", fix="load the page again")
        lineup = lineups[turn]
        knows = self.knows(judge)
        if knows is None:
            raise RealtalkError("says first whether they know the chat", where=judge)
        order = self.order(lineup, judge)
        if not 0 <= place < len(order):
            raise RealtalkError("no such reply", fix=f"there are {len(order)}")
        pick_id = order[place]
        sample = Sample(lineup.turn.id, lineup.turn.prompt.speaker, judge, None, None)
        columns = guess_row(lineup, pick_id) | {"judge": judge, "knows": knows, "at": _now()}
        with self._lock:
            self._add(self._rows, row_of(sample, Answer(pick_id), columns))

    def picks(self, chat: Chat, judge: str) -> dict[int, int]:
        """What a judge picked in a chat so far: turn → the place of the reply, as it is shown."""
        mine = {row["sample"]: row["answer"] for row in self.rows if row["variant"] == judge}
        return {
            lineup.turn.prompt.place: self.order(lineup, judge).index(LETTERS.index(answer))
            for lineup in self.rounds(chat)
            if (answer := mine.get(lineup.turn.id)) is not None
        }

    @property
    def rows(self) -> list[Row]:
        """Every pick so far."""
        with self._lock:
            return list(self._rows.rows) if self._is_there else []

    def check(self) -> None:
        """Raises where the folder holds guesses about other replies."""
        with self._lock:
            if self._is_there:
                self._files()

    def close(self) -> None:
        """Closes the folder; its rows are then also there as Parquet."""
        with self._lock:
            if self._stored is None:
                return
            folder, rows, judges = self._stored
            self._stored = None
            if rows.rows:
                keys = [tuple(row[name] for name in KEY) for row in rows.rows]
                rows.finish(keys, run_schema(GUESS_COLUMNS))
            if judges.rows:
                judges.finish([])
            folder.close()

    def run(self) -> Run:
        """The picks so far as a run."""
        with self._lock:
            return Run(GuessBenchmark, self._settings, self.rows, folder=self.folder)

    @property
    def _is_there(self) -> bool:
        """Whether somebody guessed already: looking at a page makes no folder."""
        return self._stored is not None or (self.folder / "run.json").exists()

    @property
    def _rows(self) -> Table:
        return self._files()[1]

    @property
    def _judges(self) -> Table:
        return self._files()[2]

    def _files(self) -> tuple[RunFolder, Table, Table]:
        if self._stored is None:
            folder = RunFolder.open(self.folder, GUESSES, self._settings)
            try:
                self._stored = (
                    folder,
                    folder.table("rows", KEY),
                    folder.table("judges", ("judge",)),
                )
            except BaseException:
                folder.close()
                raise
        return self._stored

    @cached_property
    def _settings(self) -> dict[str, object]:
        return {
            "corpus": corpus_record(self._corpus),
            "replies": replies_record(self._replies, self._simulated, self._seed),
            "context": {"turns": CONTEXT},
            "solver": {"name": PEOPLE, "version": "1", "settings": {}},
        }

    def _add(self, table: Table, row: Row) -> None:
        try:
            table.add(row)
            table.sync()  # an answer means: on the disk
        except OSError:
            # A line that is there in part is dropped when the file is opened again.
            stored, self._stored = self._stored, None
            if stored is not None:
                with suppress(OSError):
                    stored[0].close()
            raise


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
