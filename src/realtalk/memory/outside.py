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

Any LangChain retriever as a memory.

    def build(documents):                       # list[Document], a message or a session each
        return BM25Retriever.from_documents(documents, k=50)

    retriever_memory(build).build(chat).recall(question, Budget(tokens=1000))

On the command line: `--memory langchain factory=my_module:build`. A document's content is
what a reader would be shown; its metadata holds `message_ids`, `session`, `chat`, and for
single messages `speaker` and `date`. A retriever may cut documents or write texts of its own:
a message counts as found only where its line stands in what came back.

mem0 as a memory: its store and search, and its extraction of facts where a model is given.

    mem0_memory({"embedder": {"provider": "openai", "config": {...}}})             # messages
    mem0_memory({"embedder": {...}, "llm": {...}}, infer=True)                     # facts

On the command line: `--memory mem0 config=mem0.json infer=true`. The configuration is mem0's
own. Where it names no vector store, one is kept in memory for the chat alone; its telemetry
is switched off (`realtalk.files.offline`). With `infer=False` messages are stored
as they are and come back by id. With `infer=True` mem0 asks its model for facts, `batch`
messages at a time: what comes back are its own words, dated by their session.

Calls are those to its model and its embedder. mem0 does not say what they cost: tokens are
counted here, as everywhere in this package.
"""

from __future__ import annotations

import copy
import hashlib
import importlib
import importlib.util
import inspect
import json
import os
import sys
import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias, get_args

from realtalk.chat import Chat, Question, Session
from realtalk.encoders.tokens import count_each, count_tokens
from realtalk.errors import MissingExtraError, RealtalkError
from realtalk.evals.values import COUNTS, Cost
from realtalk.files.download import cache_folder
from realtalk.files.progress import Progress, silent
from realtalk.files.writing import owner_only, private_folder
from realtalk.memory.values import (
    Budget,
    Context,
    Filling,
    Lines,
    MessageCosts,
    Size,
    day_line,
    message_line,
    own_code,
    session_text,
)
from realtalk.registry import at_least, known_name
from realtalk.text.words import one_line

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


Factory: TypeAlias = Callable[[list[Any]], Any]  # documents → a retriever
Per = Literal["message", "session"]


def retriever_memory(factory: str | Factory, *, per: Per = "message") -> Outside:
    """A memory over the retriever that `factory` builds from a chat's documents.

    It is a function, or the place of one: `module:function`, `file.py:function`.
    """
    if find_spec("langchain_core") is None:
        raise MissingExtraError("a LangChain retriever", "langchain")
    known_name("document", per, get_args(Per))
    named = factory if isinstance(factory, str) else ""
    build: Factory = load_object(factory, "factory") if isinstance(factory, str) else factory
    about = {"factory": named or getattr(factory, "__qualname__", ""), "per": per}
    return Outside(
        "langchain",
        lambda chat: RetrieverSystem(chat, build, per),
        settings={**about, **code_of(named)},
    )


class RetrieverSystem:
    """The documents of one chat, and the retriever once it is built."""

    def __init__(self, chat: Chat, factory: Factory, per: Per) -> None:
        self._chat = chat.id
        self._factory = factory
        self._per = per
        self._documents: list[Any] = []
        self._lines: dict[str, str] = {}  # message id → how it is shown
        self._retriever: Any = None

    def add_session(self, session: Session) -> None:
        from langchain_core.documents import Document

        self._lines |= {message.id: message_line(message) for message in session.messages}
        where = {"chat": self._chat, "session": session.number}
        if self._per == "session" and session.messages:
            ids = [message.id for message in session.messages]
            self._documents.append(
                Document(session_text(session), metadata={**where, "message_ids": ids})
            )
        elif self._per == "message":
            for message in session.messages:
                moment = message.time or session.time
                date = moment.isoformat() if moment is not None else ""
                about = {"message_ids": [message.id], "speaker": message.speaker, "date": date}
                self._documents.append(Document(message_line(message), metadata={**where, **about}))

    def ready(self) -> None:
        """Builds the retriever from all documents."""
        self._retriever = self._factory(list(self._documents))
        if not hasattr(self._retriever, "invoke"):
            raise RealtalkError(
                f"the factory returned {type(self._retriever).__name__}, which has no invoke()",
                where=self._chat,
                fix="return a LangChain retriever",
            )

    def recall(self, question: str) -> Sequence[Recalled]:
        return [self._read_item(document) for document in self._retriever.invoke(question)]

    def _read_item(self, document: Any) -> Recalled:
        text = str(document.page_content)
        ids = document.metadata.get("message_ids") or ()
        lines = text.splitlines()
        message_ids = tuple(id_ for id_ in ids if self._lines.get(id_, text + " ") in lines)
        message_lines = {self._lines[id_] for id_ in message_ids}
        own = [line for line in lines if line.strip() and line not in message_lines]
        # Day lines are set again when the messages are put in order.
        if message_ids and all(line.startswith("[") and line.endswith("]") for line in own):
            return Recalled(message_ids=message_ids)
        session = document.metadata.get("session")
        return Recalled(text, message_ids, session if isinstance(session, int) else None)


def mem0_memory(
    config: Path | Mapping[str, Any],
    *,
    infer: bool = False,
    limit: int = 50,
    threshold: float = 0.1,
    batch: int = 20,
) -> Outside:
    """A memory over mem0, configured by its own JSON file, or by what such a file holds.

    `limit` and `threshold` are those of its search.
    """
    if find_spec("mem0") is None:
        raise MissingExtraError("mem0", "mem0")
    at_least(1, limit=limit, batch=batch)
    content = _read_config(config) if isinstance(config, Path) else config
    if infer and "llm" not in content:
        raise RealtalkError("infer needs a model", fix="name one under 'llm' in the configuration")
    options = {"infer": infer, "limit": limit, "threshold": threshold, "batch": batch}
    # Two files of one name are not one memory; a key in them stays out of the run.
    config_bytes = json.dumps(content, sort_keys=True, default=str).encode()
    about = {
        "config": config.name if isinstance(config, Path) else "",
        "sha256": hashlib.sha256(config_bytes).hexdigest()[:12],
    }
    return Outside(
        "mem0",
        lambda chat: Mem0System(chat, content, options),
        version=f"1, mem0ai {version('mem0ai')}",
        settings={**about, **options},
    )


def _read_config(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise RealtalkError(
            "mem0's configuration cannot be read", where=str(path), fix="give a JSON file"
        ) from error
    if not isinstance(value, dict):
        raise RealtalkError("mem0's configuration is no JSON object", where=str(path))
    return value


class Mem0System:
    """One chat in mem0, under a name that nothing else uses."""

    def __init__(self, chat: Chat, config: Mapping[str, Any], options: Mapping[str, Any]) -> None:
        os.environ.setdefault("MEM0_DIR", str(private_folder(cache_folder() / "mem0")))
        self._user = f"realtalk-{uuid.uuid4().hex}"
        self._options = options
        with owner_only():  # its import writes, too
            from mem0 import Memory

            self._memory = Memory.from_config(_complete_config(config))
        self._ids = frozenset(chat.by_id)
        self.spent = Cost()
        self._lock = threading.Lock()
        self._within = threading.local()
        self._count("llm", "generate_response")
        self._count("embedding_model", "embed")
        self._count("embedding_model", "embed_batch")

    def _count(self, part: str, method: str) -> None:
        """Has every call of a part's method counted."""
        owner = getattr(self._memory, part)
        call = getattr(owner, method, None)
        if call is None:
            return

        def count_call(*args: Any, **named: Any) -> Any:
            if getattr(self._within, "call", False):  # a batch may be made of single calls
                return call(*args, **named)
            self._within.call = True
            try:
                result = call(*args, **named)
            finally:
                self._within.call = False
            sent = args[0] if args else named.get("messages", "")
            tokens_out = count_tokens(result) if isinstance(result, str) else 0
            tokens_in = sum(count_each(_texts(sent)))
            with self._lock:
                self.spent += Cost(1, tokens_in, tokens_out)
            return result

        setattr(owner, method, count_call)

    def add_session(self, session: Session) -> None:
        infer, batch, messages = self._options["infer"], self._options["batch"], session.messages
        parts: list[tuple[str, dict[str, str]]]
        if infer:
            starts = range(0, len(messages), batch)
            parts = [(session_text(session, messages[at : at + batch]), {}) for at in starts]
        else:
            parts = [(message_line(message), {"message_id": message.id}) for message in messages]
        for text, ids in parts:
            self._memory.add(
                [{"role": "user", "content": text}],
                user_id=self._user,
                metadata={**ids, "session": session.number},
                infer=infer,
            )

    def recall(self, question: str) -> Sequence[Recalled]:
        answer = self._memory.search(
            question,
            top_k=self._options["limit"],
            filters={"user_id": self._user},
            threshold=self._options["threshold"],
        )
        return [self._read_item(item) for item in answer["results"]]

    def _read_item(self, item: Mapping[str, Any]) -> Recalled:
        metadata = item.get("metadata") or {}
        if metadata.get("message_id") in self._ids:
            return Recalled(message_ids=(str(metadata["message_id"]),))
        session = metadata.get("session")
        return Recalled(str(item["memory"]), (), session if isinstance(session, int) else None)


def _texts(given: Any) -> list[str]:
    if isinstance(given, str):
        return [given]
    if not isinstance(given, list):
        return []
    return [str(part.get("content", "")) if isinstance(part, dict) else str(part) for part in given]


def _complete_config(config: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration, with stores in memory where it names none."""
    complete = copy.deepcopy(dict(config))
    complete.setdefault("history_db_path", ":memory:")
    if "llm" not in complete:
        # It makes a client at the start, also where none is ever asked.
        complete["llm"] = {"provider": "openai", "config": {"api_key": "none"}}
    store = complete.setdefault("vector_store", {"provider": "qdrant", "config": {}})
    if store.get("provider") == "qdrant" and not {"client", "path", "url", "host"} & set(
        store.setdefault("config", {})
    ):
        from qdrant_client import QdrantClient

        store["config"]["client"] = QdrantClient(":memory:")
        # A path has a default of its own, which the check of the configuration wants to see.
        store["config"].setdefault("path", ":memory:")
        dimensions = complete.get("embedder", {}).get("config", {}).get("embedding_dims")
        if dimensions is not None:
            store["config"].setdefault("embedding_model_dims", dimensions)
    return complete
