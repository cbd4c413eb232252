"""Any LangChain retriever as a memory.

    def build(documents):                       # list[Document], a message or a session each
        return BM25Retriever.from_documents(documents, k=50)

    retriever_memory(build).build(chat).recall(question, Budget(tokens=1000))

On the command line: `--memory langchain factory=my_module:build`. A document's content is
what a reader would be shown; its metadata holds `message_ids`, `session`, `chat`, and for
single messages `speaker` and `date`. A retriever may cut documents or write texts of its own:
a message counts as found only where its line stands in what came back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any, Literal, TypeAlias, get_args

from realtalk.chat import Chat, Session
from realtalk.errors import MissingExtraError, RealtalkError
from realtalk.memory.outside import Outside, Recalled, code_of, load_object
from realtalk.memory.plain import choice
from realtalk.memory.showing import session_text, shown

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


def make(*, factory: str, per: Per = "message") -> Outside:
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

        self._lines |= {message.id: shown(message) for message in session.messages}
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
                told = {"message_ids": [message.id], "speaker": message.speaker, "date": date}
                self._documents.append(Document(shown(message), metadata={**where, **told}))

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
        return [self._recalled(document) for document in self._retriever.invoke(question)]

    def _recalled(self, document: Any) -> Recalled:
        text = str(document.page_content)
        named = document.metadata.get("message_ids") or ()
        lines = text.splitlines()
        held = tuple(id_ for id_ in named if self._lines.get(id_, text + " ") in lines)
        told = {self._lines[id_] for id_ in held}
        own = [line for line in lines if line.strip() and line not in told]
        # Day lines are set again when the messages are put in order.
        if held and all(line.startswith("[") and line.endswith("]") for line in own):
            return Recalled(message_ids=held)
        session = document.metadata.get("session")
        return Recalled(text, held, session if isinstance(session, int) else None)
