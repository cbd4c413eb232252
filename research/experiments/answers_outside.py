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
    """The shipped encoder in LangChain's form."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [[float(value) for value in row] for row in encoder().embed(texts)]

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


def vector_store(documents: list[Any]) -> Any:
    """A retriever over all documents, by the likeness of vectors."""
    store = InMemoryVectorStore.from_documents(documents, Shipped())
    return store.as_retriever(search_kwargs={"k": MOST})
