"""What an assistant may ask: six functions, whose names, types and texts are what it is told.

    tools = Tools(Prepared(lambda: collection))
    tools.search_messages("bicycle", person="Mara", since="2026-03")
    → {"messages": [{"chat": …, "id": "D1:4", "text": …}], "total": 3}

Dates are typed as 2026-03-02, 2026-03, 2026 or 2 March 2026; "" leaves a choice open. What is
wrong with a question raises RealtalkError.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Literal

from realtalk.assistant.answers import check_page, page
from realtalk.assistant.collection import Collection, ListedChat
from realtalk.assistant.feelings import MOST_TURNS, By, Feelings
from realtalk.assistant.finding import FoundMessage, WordSearch, nearest
from realtalk.assistant.indexes import Indexes
from realtalk.assistant.overview import chat_rows, statistics
from realtalk.assistant.periods import Period
from realtalk.assistant.preparing import Prepared
from realtalk.assistant.reading import message_row, read
from realtalk.assistant.recalling import parse_budget, recall
from realtalk.errors import RealtalkError

_EXCERPT = 500  # characters of a message among search results
_LONGEST = 1000  # characters of a question
_MOST_NEAR = 200  # messages that are ranked by meaning: everything is somehow near


class Tools:
    """The tools over one collection; what they need is made when they first need it."""

    def __init__(self, chats: Prepared[Collection]) -> None:
        self._chats = chats
        self._indexes = Indexes()
        self._feelings = Feelings()

    def offered(self) -> tuple[Callable[..., dict[str, Any]], ...]:
        """The tools, in the order that they are listed."""
        return (
            self.list_chats,
            self.recall,
            self.search_messages,
            self.read_session,
            self.chat_statistics,
            self.feelings,
        )

    @property
    def _collection(self) -> Collection:
        return self._chats.get()

    @cached_property
    def _words(self) -> WordSearch:
        return WordSearch(self._collection)

    def list_chats(self, person: str = "", limit: int = 50, offset: int = 0) -> dict[str, Any]:
        """List the chats: id, people with their numbers of messages, sessions, first and last date.

        person: only chats in which this person speaks.
        """
        check_page(offset, limit)
        chats = self._collection.chosen(person=person)
        rows = chat_rows(chats[offset:])
        return page({}, "chats", rows, total=len(chats), offset=offset, limit=limit)

    def recall(
        self,
        question: str,
        budget: str = "1500",
        chat: str = "",
        since: str = "",
        until: str = "",
    ) -> dict[str, Any]:
        """Find what was said about a question: the messages that tell most, in time order, as text.

        Every line has (message id, time) and who said it, under its day. Best for questions in
        plain words; name people as the chats name them.
        budget: how much text: "1500" tokens or "1000w" words. chat: one chat's id, else all share
        the budget. since, until: dates such as 2026-03-02, 2026-03 or 2 March 2026.
        """
        wanted = _checked("question", question)
        size, period = parse_budget(budget), Period.of(since, until)
        found, head = self._found(wanted, self._collection.chosen(chat), "", period)
        return {**head, **recall(found, size).to_json()}

    def _found(
        self, text: str, chats: Sequence[ListedChat], person: str, period: Period
    ) -> tuple[list[FoundMessage], dict[str, Any]]:
        """Messages by meaning where that is ready, else by words; and what is said about it."""
        ranked = self._indexes.built(chats)
        if ranked.memories is None:
            found = self._words.rows(text, chats, person, period)
            return found, {"searched_by": "words", "note": ranked.note}
        return nearest(ranked.memories, text, person, period), {"searched_by": "meaning"}

    def search_messages(
        self,
        words: str,
        by: Literal["words", "meaning"] = "words",
        chat: str = "",
        person: str = "",
        since: str = "",
        until: str = "",
        limit: int = 20,
        offset: int = 0,
    ) -> dict[str, Any]:
        """Find messages, best first, with their ids, dates and people.

        by: "words" finds messages that hold one of the words; "meaning" ranks messages by what
        they are about, whatever words they use. person: only what this person wrote.
        since, until: dates such as 2026-03-02, 2026-03 or 2 March 2026.
        """
        check_page(offset, limit)
        wanted, period = _checked("words", words), Period.of(since, until)
        chats = self._collection.chosen(chat, person)
        head: dict[str, Any] = {}
        if by == "meaning":
            found, head = self._found(wanted, chats, person, period)
            found = found[:_MOST_NEAR]
        else:
            found = self._words.rows(wanted, chats, person, period)
        rows = (
            {"chat": each.chat.id, **message_row(each.session, each.message, _EXCERPT)}
            for each in found[offset:]
        )
        return page(head, "messages", rows, total=len(found), offset=offset, limit=limit)

    def read_session(
        self,
        chat: str = "",
        session: int | None = None,
        date: str = "",
        around: str = "",
        limit: int = 50,
        offset: int = 0,
    ) -> dict[str, Any]:
        """Read messages in order, page by page.

        Give one of: session, its number; date, to read every session with messages on that day;
        around, a message's id, to read its session from shortly before it.
        chat: the chat's id; may be left out where there is only one.
        """
        return read(
            self._collection.only(chat),
            session=session,
            day=date.strip(),
            around=around,
            offset=offset,
            limit=limit,
        )

    def chat_statistics(
        self, chat: str = "", person: str = "", limit: int = 20, offset: int = 0
    ) -> dict[str, Any]:
        """Count: messages, words, turns, sessions, days, response gaps in minutes, activity by hour
        and weekday, of all chats together and of each; and each person's messages, turns and words.

        chat: one chat's id. person: only their chats, and their part in each.
        """
        check_page(offset, limit)
        chats = self._collection.chosen(chat, person)
        together, rows = statistics(chats, person)
        head = {"together": together}
        return page(head, "chats", rows[offset:], total=len(rows), offset=offset, limit=limit)

    def feelings(
        self,
        chat: str = "",
        person: str = "",
        since: str = "",
        until: str = "",
        by: By = "whole",
        most_turns: int = 300,
        limit: int = 50,
        offset: int = 0,
    ) -> dict[str, Any]:
        """Count emotions and sentiments of a period, with shares of reflective and grounding turns
        and mean intimacy (0 to 1) and empathy (0 to 6), per chat and person.

        A small model labels every turn: its labels are guesses, good for many turns together and
        not for one; repeat the notes of the answer when you use its figures.
        by: one row for the whole period, or one per month, week or day. most_turns: how many turns
        are labelled now where no labels are stored (40 take a second); more are sampled evenly.
        """
        check_page(offset, limit)
        if not 1 <= most_turns <= MOST_TURNS:
            raise RealtalkError(f"'most_turns' goes from 1 to {MOST_TURNS}")
        period = Period.of(since, until)
        chats = self._collection.chosen(chat, person)
        felt = self._feelings.told(chats, person, period, by, most_turns)
        notes = [*felt.notes[:20]]
        head = {"period": period.to_json(), "notes": notes}
        rows = felt.rows[offset:]
        return page(head, "rows", rows, total=len(felt.rows), offset=offset, limit=limit)


def _checked(name: str, text: str) -> str:
    if not text.strip():
        raise RealtalkError(f"'{name}' is empty")
    if len(text) > _LONGEST:
        raise RealtalkError(f"'{name}' is longer than {_LONGEST} characters")
    return text.strip()
