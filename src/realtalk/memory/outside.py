"""Any memory system from outside, measured like the ones in here.

    class Mine:
        def add_session(self, session: Session) -> None: ...
        def recall(self, question: str) -> list[Recalled]:
            return [Recalled(message_ids=("D1:4",)), Recalled("Mara owns a bicycle", session=2)]

    memory = Outside("mine", lambda chat: Mine())
    memory.build(chat).recall(question, Budget(tokens=1000))      → Context(...), as any other

On the command line: `--memory my_module:Mine`, or `--memory folder/mine.py:Mine`. The class is
called without arguments for every chat; a function `start(chat)` that returns a new system will
do too, and so will a class with the `Memory` protocol. A system is given the sessions
one after the other, then the text of each question and nothing else of it. What it recalls, best
first, is shown in time order as far as the budget reaches: messages that it names by their ids as
they were written, other texts as lines under their session's day. A system may also have
`ready()`, called once after the last session, and `spent`, a `Cost` that grows with what it uses;
without it each call to the system counts as one.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from realtalk.chat import Chat, Question, Session
from realtalk.errors import RealtalkError
from realtalk.evals.values import COUNTS, Cost
from realtalk.files.progress import Progress, silent
from realtalk.memory.showing import Filling, Lines, MessageCosts, Size, day_line, one_line
from realtalk.memory.values import Budget, Context, own_code

_UNDATED = "[no date]"


@dataclass(frozen=True, slots=True)
class Recalled:
    """One thing that a system remembers.

    Without a text it is the messages themselves. With one it is the system's own words; the
    ids then say where it comes from, and the session when.
    """

    text: str = ""
    message_ids: tuple[str, ...] = ()
    session: int | None = None


class System(Protocol):
    """What is measured: one chat's memory in somebody else's hands."""

    def add_session(self, session: Session) -> None: ...

    def recall(self, question: str) -> Sequence[Recalled | str]: ...


Start: TypeAlias = Callable[[Chat], System]


class Outside:
    """A memory that asks a system from outside, a new one for every chat."""

    def __init__(
        self,
        name: str,
        start: Start,
        *,
        version: str = "1",
        settings: Mapping[str, str | int | float | bool] | None = None,
    ) -> None:
        self.name = name
        self.version = version
        self.settings = dict(settings or {})
        self._start = start

    def build(self, chat: Chat, progress: Progress = silent) -> BuiltOutside:
        with own_code(f"the system '{self.name}' did not start", chat.id):
            system = self._start(chat)
        return BuiltOutside(chat, system, self.name, progress)


class BuiltOutside:
    """A system that knows the chat. `cost` is what telling it took."""

    def __init__(self, chat: Chat, system: System, name: str, progress: Progress) -> None:
        self.system = system
        self._name = name
        self._costs = MessageCosts(chat)
        self._days = {session.number: day_line(session) for session in chat.sessions}
        self.cost = Cost()
        for number, session in enumerate(chat.sessions, 1):
            where = f"session {session.number}"
            self.cost += self._time_call(partial(system.add_session, session), where)[1]
            progress(number, len(chat.sessions), f"telling {name}")
        ready = getattr(system, "ready", None)
        if ready is not None:
            self.cost += self._time_call(ready, "the end")[1]

    def recall(self, question: Question, budget: Budget) -> Context:
        """What the system recalls, shown in time order, as much as fits."""
        answer, cost = self._time_call(partial(self.system.recall, question.text), question.id)
        items = [
            recollection if isinstance(recollection, Recalled) else Recalled(str(recollection))
            for recollection in answer
        ]
        items = [item for item in items if item.text.strip() or item.message_ids]
        ranked = {id_: self._costs.at(id_) for item in items for id_ in item.message_ids}
        texts = [(at, item) for at, item in enumerate(items) if item.text.strip()]
        texts.sort(key=lambda pair: (pair[1].session is None, pair[1].session or 0))
        heads = [self._head(item.session) for _, item in texts]
        sheet = Lines([f"- {one_line(item.text)}" for _, item in texts], heads, heads)
        place_of = {at: place for place, (at, _) in enumerate(texts)}
        size = Size(budget)
        lines, messages = Filling(sheet, size), Filling(self._costs, size)
        for at, item in enumerate(items):
            if at in place_of:
                lines.add(place_of[at])
            else:
                messages.take(ranked[id_] for id_ in item.message_ids)
        return self._costs.context(
            [self._costs.ids[at] for at in messages.take(())],
            before=sheet.text(lines.take(())),
            ranked=None if items and not ranked else tuple(ranked),
            cost=cost,
            tells=bool(items) and len(texts) == len(items),
        )

    def _head(self, session: int | None) -> str:
        return _UNDATED if session is None else self._days.get(session, f"[session {session}]")

    def _time_call(self, call: Callable[[], Any], what: str) -> tuple[Any, Cost]:
        before = getattr(self.system, "spent", None)
        began = time.perf_counter()
        with own_code(f"the system '{self._name}' failed at {what}", self._costs.chat.id):
            result = call()
        seconds = time.perf_counter() - began
        after = getattr(self.system, "spent", None)
        if before is None or after is None:
            return result, Cost(calls=1, seconds=seconds)
        spent = {name: getattr(after, name) - getattr(before, name) for name in COUNTS}
        return result, Cost(**spent, seconds=seconds)


def make(*, system: str) -> Outside:
    """The memory over a system of a module or file: `module:Mine`, `file.py:start`."""
    return outside("outside", system, load_object(system, "system"))


def outside(name: str, reference: str, system: Callable[..., Any]) -> Outside:
    """The memory over a class or function, and where it was found."""
    return Outside(name, starting(system), settings={"system": reference, **code_of(reference)})


def starting(found: Callable[..., Any]) -> Start:
    """How a class or a function is called for a chat: with the chat where it takes one."""
    try:
        needed = inspect.signature(found).parameters
    except (TypeError, ValueError):  # of some classes in C nothing is known
        return found
    takes_chat = any(
        parameter.default is parameter.empty
        and parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        for parameter in needed.values()
    )
    return found if takes_chat else lambda _: found()


def code_of(reference: str) -> dict[str, str]:
    """A hash of the file that a reference names: with another text it is another memory."""
    place = Path(reference.rpartition(":")[0])
    if place.suffix != ".py" or not place.is_file():
        return {}
    return {"sha256": hashlib.sha256(place.read_bytes()).hexdigest()[:12]}


def load_object(reference: str, setting: str) -> Any:
    """What `module:name` or `path/file.py:name` refers to."""
    place, _, name = reference.rpartition(":")
    example = f"{setting}=my_module:{name or 'start'}"
    if not place or not name:
        raise RealtalkError(f"'{reference}' names no object", fix=f"write it as {example}")
    module = _from_file(Path(place)) if place.endswith(".py") else _by_name(place, example)
    if not hasattr(module, name):
        raise RealtalkError(f"no '{name}' in it", where=place, fix="check the name")
    if not callable(getattr(module, name)):
        raise RealtalkError(f"'{name}' cannot be called", where=place, fix="name a function")
    return getattr(module, name)


def _by_name(name: str, example: str) -> Any:
    if "" not in sys.path:
        sys.path.insert(0, "")  # as `python -m` does: a module beside the user's work
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        raise RealtalkError(
            f"no module '{name}'",
            fix=f"install it, or name the file: {example.replace('my_module', 'folder/file.py')}",
        ) from None


def _from_file(path: Path) -> Any:
    if not path.is_file():
        raise RealtalkError("no such file", where=str(path))
    spec = importlib.util.spec_from_file_location(f"realtalk_outside_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module
