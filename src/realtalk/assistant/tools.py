"""What an assistant may ask: six functions, whose names, types and texts are what it is told.

    tools = Tools(BackgroundValue(lambda: collection))
    tools.search_messages("bicycle", person="Mara", since="2026-03")
    → {"messages": [{"chat": …, "id": "D1:4", "text": …}], "total": 3}

Dates are typed as 2026-03-02, 2026-03, 2026 or 2 March 2026; "" leaves a choice open. What is
wrong with a question raises RealtalkError.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Literal

from realtalk.assistant.answers import Period, check_page, days, page
from realtalk.assistant.chats import BackgroundValue, Collection, ListedChat, ListedMessage
from realtalk.assistant.feelings import MOST_TURNS, By, Feelings
from realtalk.assistant.finding import MeaningSearch, WordSearch, nearest, parse_budget, recall
from realtalk.chat import Corpus
from realtalk.describe.counting import describe
from realtalk.errors import RealtalkError
from realtalk.formats.tables import from_corpus

_EXCERPT = 500  # characters of a message among search results
_LONGEST = 1000  # characters of a question
_MOST_NEAR = 200  # messages that are ranked by meaning: everything is somehow near
_PEOPLE = 30  # of a chat that are listed; a channel may have thousands
# Of interest to a paper, not to somebody who asks about a chat.
_LEFT_OUT = frozenset({"per_chat", "table1", "intervals", "interval_method", "name", "format"})


class Tools:
    """The tools over one collection; what they need is made when they first need it."""

    def __init__(self, chats: BackgroundValue[Collection]) -> None:
        self._chats = chats
        self._meaning = MeaningSearch()
        self._feelings = Feelings()

    def tools(self) -> tuple[Callable[..., dict[str, Any]], ...]:
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
        chats = self._collection.choose(person=person)
        return page({}, "chats", chats, _chat_row, offset, limit)

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
        text = _check_text("question", question)
        size, period = parse_budget(budget), Period.of(since, until)
        messages, head = self._find(text, self._collection.choose(chat), "", period)
        return {**head, **recall(messages, size)}

    def _find(
        self, text: str, chats: Sequence[ListedChat], person: str, period: Period
    ) -> tuple[list[ListedMessage], dict[str, Any]]:
        """Messages by meaning where that is ready, else by words; and what is said about it."""
        memories = self._meaning.memories(chats)
        if isinstance(memories, str):
            messages = self._words.find(text, chats, person, period)
            return messages, {"searched_by": "words", "note": memories}
        return nearest(memories, text, person, period), {"searched_by": "meaning"}

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
        text, period = _check_text("words", words), Period.of(since, until)
        chats = self._collection.choose(chat, person)
        head: dict[str, Any] = {}
        if by == "meaning":
            messages, head = self._find(text, chats, person, period)
            messages = messages[:_MOST_NEAR]
        else:
            messages = self._words.find(text, chats, person, period)

        def row(message: ListedMessage) -> dict[str, Any]:
            return {"chat": message.chat.id, **message.row(_EXCERPT)}

        return page(head, "messages", messages, row, offset, limit)

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
        check_page(offset, limit)
        only, day = self._collection.only(chat), date.strip()
        messages = only.messages
        if sum((session is not None, bool(day), bool(around))) != 1:
            fix = "give one of session, date and around"
            raise RealtalkError("say which part to read", fix=fix)
        if around:
            home = [message.session for message in messages if message.message.id == around]
            if not home:
                raise RealtalkError(
                    "no message of this chat has this id", fix="take ids from answers"
                )
            chosen_messages = [message for message in messages if message.session is home[0]]
            at = [message.message.id for message in chosen_messages].index(around)
            # Given an offset, the reader is on a later page of the same session.
            offset = offset or max(0, at - limit // 2)
        elif session is not None:
            chosen_messages = [message for message in messages if message.session.number == session]
        else:
            period = Period(*days("date", day))
            numbers = {message.session.number for message in messages if period.holds(message.time)}
            chosen_messages = [message for message in messages if message.session.number in numbers]
        if not chosen_messages:
            raise RealtalkError("no such part in this chat", fix=_parts(only))
        head = {"chat": only.id, "offset": offset}
        return page(head, "messages", chosen_messages, ListedMessage.row, offset, limit)

    def chat_statistics(
        self, chat: str = "", person: str = "", limit: int = 20, offset: int = 0
    ) -> dict[str, Any]:
        """Count: messages, words, turns, sessions, days, response gaps in minutes, activity by hour
        and weekday, of all chats together and of each; and each person's messages, turns and words.

        chat: one chat's id. person: only their chats, and their part in each.
        """
        check_page(offset, limit)
        chats = self._collection.choose(chat, person)
        corpus = Corpus("", "", tuple(listed.display for listed in chats))
        figures = describe(from_corpus(corpus)).to_json()
        rows = figures["per_chat"]
        for row in rows:
            people = sorted(row["speakers"], key=lambda who: -who["messages"])
            row["speakers"] = [who for who in people if person in ("", who["name"])][:_PEOPLE]
        together = {name: value for name, value in figures.items() if name not in _LEFT_OUT}
        del together["response_gap_minutes"]["bins"], together["consecutive_messages"]["counts"]
        return page({"together": together}, "chats", rows, dict, offset, limit)

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
        chats = self._collection.choose(chat, person)
        rows, notes = self._feelings.summarise(chats, person, period, by, most_turns)
        span = {
            "since": period.first and period.first.isoformat(),
            "until": period.last and period.last.isoformat(),
        }
        return page({"period": span, "notes": notes[:20]}, "rows", rows, dict, offset, limit)


def _chat_row(chat: ListedChat) -> dict[str, Any]:
    """A chat's people with their messages, its counts and dates."""
    messages = Counter(dict.fromkeys(chat.people, 0))
    messages.update(message.message.speaker for message in chat.messages)
    times = [message.time for message in chat.messages if message.time]
    numbers = [session.number for session in chat.display.sessions]
    return {
        "chat": chat.id,
        "people": [
            {"name": name, "messages": count} for name, count in messages.most_common(_PEOPLE)
        ],
        "people_in_all": len(messages),
        "messages": len(chat.messages),
        "sessions": len(numbers),
        "session_numbers": [min(numbers), max(numbers)] if numbers else None,
        "first": min(times).isoformat(" ", "minutes") if times else None,
        "last": max(times).isoformat(" ", "minutes") if times else None,
    }


def _parts(chat: ListedChat) -> str:
    """Which sessions and days there are."""
    about = _chat_row(chat)
    if not about["session_numbers"]:
        return "it has no messages"
    first, last = about["session_numbers"]
    span = f", days {about['first'][:10]} to {about['last'][:10]}" if about["first"] else ""
    return f"it has sessions {first} to {last}{span}"


def _check_text(name: str, text: str) -> str:
    if not text.strip():
        raise RealtalkError(f"'{name}' is empty")
    if len(text) > _LONGEST:
        raise RealtalkError(f"'{name}' is longer than {_LONGEST} characters")
    return text.strip()
