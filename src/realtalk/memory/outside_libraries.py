"""Any LangChain retriever as a memory.

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
import json
import os
import threading
import uuid
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from realtalk.chat import Chat, Session
from realtalk.encoders.tokens import count_each, count_tokens
from realtalk.errors import MissingExtraError, RealtalkError
from realtalk.evals.values import Cost
from realtalk.files.download import cache_folder
from realtalk.files.writing import owner_only, private_folder
from realtalk.memory.outside import Outside, Recalled, code_of, load_object
from realtalk.memory.showing import message_line, session_text
from realtalk.memory.values import at_least, choice

Factory: TypeAlias = Callable[[list[Any]], Any]  # documents → a retriever
Per = Literal["message", "session"]


def retriever_memory(
    factory: Factory, *, per: Per = "message", name: str = "langchain", label: str = ""
) -> Outside:
    """A memory over the retriever that `factory` builds from a chat's documents."""
    if find_spec("langchain_core") is None:
        raise MissingExtraError("a LangChain retriever", "langchain")
    choice("document", per, get_args(Per))
    return Outside(
        name,
        lambda chat: RetrieverSystem(chat, factory, per),
        settings={
            "factory": label or getattr(factory, "__qualname__", ""),
            "per": per,
            **code_of(label),
        },
    )


def make_langchain(*, factory: str, per: Per = "message") -> Outside:
    """`factory` is `module:function` or `file.py:function`."""
    return retriever_memory(load_object(factory, "factory"), per=per, label=factory)


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
    config: Mapping[str, Any],
    *,
    infer: bool = False,
    limit: int = 50,
    threshold: float = 0.1,
    batch: int = 20,
    label: str = "",
) -> Outside:
    """A memory over mem0. `limit` and `threshold` are those of its search."""
    if find_spec("mem0") is None:
        raise MissingExtraError("mem0", "mem0")
    at_least(1, limit=limit, batch=batch)
    if infer and "llm" not in config:
        raise RealtalkError("infer needs a model", fix="name one under 'llm' in the configuration")
    options = {"infer": infer, "limit": limit, "threshold": threshold, "batch": batch}
    # Two files of one name are not one memory; a key in them stays out of the run.
    config_bytes = json.dumps(config, sort_keys=True, default=str).encode()
    return Outside(
        "mem0",
        lambda chat: Mem0System(chat, config, options),
        version=f"1, mem0ai {version('mem0ai')}",
        settings={
            "config": label,
            "sha256": hashlib.sha256(config_bytes).hexdigest()[:12],
            **options,
        },
    )


def make_mem0(
    *,
    config: Path,
    infer: bool = False,
    limit: int = 50,
    threshold: float = 0.1,
    batch: int = 20,
) -> Outside:
    """`config` is a JSON file with mem0's configuration."""
    try:
        value = json.loads(config.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise RealtalkError(
            "mem0's configuration cannot be read", where=str(config), fix="give a JSON file"
        ) from error
    if not isinstance(value, dict):
        raise RealtalkError("mem0's configuration is no JSON object", where=str(config))
    return mem0_memory(
        value, infer=infer, limit=limit, threshold=threshold, batch=batch, label=config.name
    )


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
