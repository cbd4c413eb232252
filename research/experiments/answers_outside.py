"""A chat's documents → a LangChain retriever over its vector store, with our own encoder.

    realtalk probe CORPUS --memory langchain --set factory=research/experiments/answers_outside.py:vector_store

Needs langchain-core and numpy. The same vectors as the memory `retrieved` searches, by LangChain's
own store: what its way of searching is worth beside ours.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore

from realtalk.encoders.sentences import SentenceEncoder

MOST = 400  # documents a search gives back: more than any budget holds


@cache
def encoder() -> SentenceEncoder:
    return SentenceEncoder()


class Shipped(Embeddings):
    """The shipped encoder in LangChain's form. What it has read once it does not read again."""

    def __init__(self) -> None:
        self._known: dict[str, list[float]] = {}

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        for text, row in zip(new, encoder().embed(new) if new else (), strict=True):
            self._known[text] = [float(value) for value in row]
        return [self._known[text] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


@cache
def shipped() -> Shipped:
    return Shipped()


def vector_store(documents: list[Any]) -> Any:
    """A retriever over all documents, by the likeness of vectors."""
    store = InMemoryVectorStore.from_documents(documents, shipped())
    return store.as_retriever(search_kwargs={"k": MOST})
