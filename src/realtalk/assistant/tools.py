"""What an assistant may ask: functions, whose names, types and texts are what it is told.

    tools = Tools(BackgroundValue(lambda: collection))
    tools.search_messages("bicycle", person="Mara", since="2026-03")
    → {"messages": [{"chat": …, "id": "D1:4", "text": …}], "total": 3}

Dates are typed as 2026-03-02, 2026-03, 2026 or 2 March 2026; "" leaves a choice open. What is
wrong with a question raises RealtalkError.

Chats, a person and a period → what was felt, in labels of turns: counts, shares, means.

    Feelings().summarise(chats, person="Mara", period=Period.of("2026-03"), by="week", most=400)
    → ([{"chat": …, "person": "Mara", "turns": 51, "sentiment": {…}, …}], ["what to say beside it"])

Labels that `realtalk ei` stored beside a chat are taken as they are. Without them the encoder in
this package labels the turns of the period that nobody labelled before, at most so many, spread
evenly over it. A label that could not be made counts for nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date as Day
from datetime import datetime
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING, Literal

import polars as pl

from realtalk.assistant.answers import JsonObject, Period, check_page, days, page, rounded
from realtalk.assistant.course import Part, chat_spans, first_writers, lost, within, year_of
from realtalk.assistant.finding import (
    BackgroundValue,
    Collection,
    ListedChat,
    ListedMessage,
    MeaningSearch,
    WordSearch,
    nearest,
    parse_budget,
    recall,
)
from realtalk.assistant.querying import MOST_RESULTS, QueryTables
from realtalk.chat import Corpus
from realtalk.describe.counting import describe
from realtalk.ei.labelling import CachedLabels, label_cautions
from realtalk.ei.labels import MEASURED, WORDS, label_frame, label_sums
from realtalk.errors import RealtalkError
from realtalk.formats.tables import from_corpus
from realtalk.pages.lines import MessageLines, message_lines

if TYPE_CHECKING:
    from realtalk.ei.embedded import EmbeddedLabeller


By = Literal["whole", "month", "week", "day"]
MOST_TURNS = 1000  # labelled for one answer; a thousand take about half a minute on two cores
_FORMS = {"whole": "", "month": "%Y-%m", "week": "%G-W%V", "day": "%Y-%m-%d"}


class Feelings:
    """Labels of chats: those that are stored, and others as they are asked for."""

    def __init__(self) -> None:
        self._labels: dict[ListedChat, CachedLabels] = {}

    @cached_property
    def _labeller(self) -> EmbeddedLabeller:
        from realtalk.ei.embedded import EmbeddedLabeller

        return EmbeddedLabeller()

    def summarise(
        self, chats: Sequence[ListedChat], person: str, period: Period, by: By, most: int
    ) -> tuple[list[JsonObject], list[str]]:
        """A row per chat, person and part of the period, and what has to be said beside them.

        At most `most` turns are labelled for it.
        """
        import polars as pl

        def is_meant(chat: ListedChat, who: str, session: int, time: datetime | None) -> bool:
            is_theirs = not person or chat.stand_ins.get(who) == person
            return is_theirs and period.holds(time or chat.session_times.get(session))

        waiting = {
            chat: [
                turn for turn in chat.turns if is_meant(chat, turn.speaker, turn.session, turn.time)
            ]
            for chat in chats
            if chat.stored_labels is None
        }
        for chat in waiting:
            if chat not in self._labels:
                self._labels[chat] = CachedLabels(chat.turns, self._labeller)
        total = sum(map(len, waiting.values()))
        # What the page or a command labelled is taken whole.
        is_made = all(
            self._labels[chat].find(turn) for chat, turns in waiting.items() for turn in turns
        )
        step = 1 if is_made else max(1, -(-total // most))
        rows: list[JsonObject] = []
        notes: list[str] = []
        count = 0
        for chat in chats:
            if chat.stored_labels is not None:
                origin, frame = "stored", chat.stored_labels
                places = frame.select("speaker", "session", "time").iter_rows()
                is_chosen = [is_meant(chat, *place) for place in places]
                frame = frame.filter(pl.Series(is_chosen, dtype=pl.Boolean))
            elif turns := waiting[chat][::step]:
                origin = "kept" if is_made else "made now"
                count += len(turns)
                labels = list(self._labels[chat].label(turns))
                frame = label_frame(turns, labels, self._labeller)
            else:
                continue
            if frame.height:
                frame = frame.with_columns(chat=pl.lit(chat.id))
                rows += [{**row, "labels": origin} for row in _sum_rows(chat, frame, by)]
                own = Corpus("", "", (replace(chat.source, id=chat.id),))
                notes += label_cautions(frame, own)
        if step > 1:
            notes.insert(0, f"labelled now: {count:,} of {total:,} turns, spread evenly over all")
        return rows, notes


def _sum_rows(chat: ListedChat, frame: pl.DataFrame, by: By) -> Iterator[JsonObject]:
    """One row per part of the period and person, oldest first, under the names of answers."""
    import polars as pl

    people, parts = [], []
    for who, session, time in frame.select("speaker", "session", "time").iter_rows():
        moment = time or chat.session_times.get(session)
        people.append(chat.stand_ins.get(who, ""))
        parts.append("" if moment is None else moment.strftime(_FORMS[by]))
    parted = frame.with_columns(
        pl.Series("speaker", people, pl.String), pl.Series("part", parts, pl.String)
    )
    for row in label_sums(parted, ("part", "speaker")).sort("part", "speaker").to_dicts():
        answer = {"chat": chat.id, "person": row["speaker"]}
        if by != "whole":
            answer[by] = row["part"] or None
        answer |= {"turns": row["turns"], "unscored": row["unscored"]}
        answer |= {name: dict(Counter(row[name]).most_common()) for name in WORDS}
        for measure in MEASURED:
            if not measure.words:
                n = row[f"{measure.name}_n"]
                name = f"{measure.name}_{'mean' if measure.is_score else 'share'}"
                answer[name] = round(row[measure.name] / n, 2) if n else None
        yield answer


_EXCERPT = 500  # characters of a message among search results
_LONGEST = 1000  # characters of a question
_LONGEST_QUERY = 5000
_MOST_NEAR = 200  # messages that are ranked by meaning: everything is somehow near
_PEOPLE = 30  # of a chat that are listed; a channel may have thousands
# Of interest to a paper, not to somebody who asks about a chat.
_LEFT_OUT = frozenset({"per_chat", "table1", "intervals", "interval_method", "name", "format"})


class Tools:
    """The tools over one collection; what they need is made when they first need it."""

    def __init__(self, chats: BackgroundValue[Collection], *, texts: bool = False) -> None:
        self._chats = chats
        self._texts = texts
        self._meaning = MeaningSearch()
        self._feelings = Feelings()

    def tools(self) -> tuple[Callable[..., JsonObject], ...]:
        """The tools, in the order that they are listed."""
        return (
            self.list_chats,
            self.recall,
            self.search_messages,
            self.read_session,
            self.chat_statistics,
            self.feelings,
            self.writes_first,
            self.streaks,
            self.on_this_day,
            self.lost_contacts,
            self.year,
            self.query,
        )

    @property
    def _collection(self) -> Collection:
        return self._chats.get()

    @cached_property
    def _words(self) -> WordSearch:
        return WordSearch(self._collection)

    @cached_property
    def _lines(self) -> MessageLines:
        corpus = Corpus("", "", tuple(listed.display for listed in self._collection.chats))
        return message_lines(from_corpus(corpus))

    @cached_property
    def _tables(self) -> QueryTables:
        return QueryTables(self._lines, texts=self._texts)

    def _chosen(self, chat: str, person: str, since: str, until: str) -> pl.DataFrame:
        """The messages of chats and a period, whoever wrote them."""
        ids = [listed.id for listed in self._collection.choose(chat, person)]
        frame = within(self._lines.frame, Period.of(since, until))
        return frame.filter(pl.col("chat").is_in(ids))

    def list_chats(self, person: str = "", limit: int = 50, offset: int = 0) -> JsonObject:
        """List the chats: id, people with their numbers of messages, sessions, first and last date.

        person: only chats in which this person speaks.
        """
        check_page(offset, limit)
        chats = self._collection.choose(person=person)
        return page({}, "chats", chats, _chat_row, offset, limit)

    def recall(
        self, question: str, budget: str = "1500", chat: str = "", since: str = "", until: str = ""
    ) -> JsonObject:
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
    ) -> tuple[list[ListedMessage], JsonObject]:
        """Messages by meaning, or by words where that cannot be; and what is said about it."""
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
    ) -> JsonObject:
        """Find messages, best first, with their ids, dates and people.

        by: "words" finds messages that hold one of the words; "meaning" ranks messages by what
        they are about, whatever words they use. person: only what this person wrote.
        since, until: dates such as 2026-03-02, 2026-03 or 2 March 2026.
        """
        check_page(offset, limit)
        text, period = _check_text("words", words), Period.of(since, until)
        chats = self._collection.choose(chat, person)
        head: JsonObject = {}
        if by == "meaning":
            messages, head = self._find(text, chats, person, period)
            messages = messages[:_MOST_NEAR]
        else:
            messages = self._words.find(text, chats, person, period)

        return page(head, "messages", messages, _excerpt, offset, limit)

    def read_session(
        self,
        chat: str = "",
        session: int | None = None,
        date: str = "",
        around: str = "",
        limit: int = 50,
        offset: int = 0,
    ) -> JsonObject:
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
            home = next((part.session for part in messages if part.message.id == around), None)
            if home is None:
                raise RealtalkError(
                    "no message of this chat has this id", fix="take ids from answers"
                )
            chosen_messages = [message for message in messages if message.session is home]
            at = [message.message.id for message in chosen_messages].index(around)
            # Given an offset, the reader is on a later page of the same session.
            offset = offset or max(0, at - limit // 2)
        else:
            numbers = {session}
            if day:
                period = Period(*days("date", day))
                numbers = {part.session.number for part in messages if period.holds(part.time)}
            chosen_messages = [part for part in messages if part.session.number in numbers]
        if not chosen_messages:
            raise RealtalkError("no such part in this chat", fix=_parts(only))
        head = {"chat": only.id, "offset": offset}
        return page(head, "messages", chosen_messages, ListedMessage.row, offset, limit)

    def chat_statistics(
        self, chat: str = "", person: str = "", limit: int = 20, offset: int = 0
    ) -> JsonObject:
        """Count: messages, words, turns, sessions, days, response gaps in minutes, activity by hour
        and weekday, of all chats together and of each; and each person's messages, turns and words.

        chat: one chat's id. person: only their chats, and their part in each.
        """
        check_page(offset, limit)
        chats = self._collection.choose(chat, person)
        corpus = Corpus("", "", tuple(listed.display for listed in chats))
        figures = rounded(describe(from_corpus(corpus)).to_json())
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
    ) -> JsonObject:
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

    def writes_first(
        self,
        chat: str = "",
        person: str = "",
        by: Part = "quarter",
        since: str = "",
        until: str = "",
        limit: int = 100,
        offset: int = 0,
    ) -> JsonObject:
        """Tell who begins the conversations, and how that changed: per chat in the first and the
        second half of its conversations, then by month, quarter or year.

        Shares of few conversations tell little. person: only chats in which this person speaks.
        """
        check_page(offset, limit)
        rows = first_writers(self._chosen(chat, person, since, until), by)
        return page({}, "rows", rows, dict, offset, limit)

    def streaks(
        self,
        chat: str = "",
        person: str = "",
        since: str = "",
        until: str = "",
        limit: int = 20,
        offset: int = 0,
    ) -> JsonObject:
        """Tell each chat's five longest streaks (days in a row with messages) and silences (days in
        a row without, between messages), and its first and last day.

        person: only days on which this person wrote.
        """
        check_page(offset, limit)
        frame = self._chosen(chat, person, since, until)
        own = frame.filter(pl.col("speaker") == person) if person else frame
        return page({}, "chats", chat_spans(own), dict, offset, limit)

    def on_this_day(
        self, date: str = "", chat: str = "", person: str = "", limit: int = 30, offset: int = 0
    ) -> JsonObject:
        """Read what was written on the same day of earlier years, oldest first.

        date: a day such as 2026-03-02; today where it is left out. person: what this person wrote.
        """
        check_page(offset, limit)
        day, last = days("date", date) if date.strip() else (Day.today(), Day.today())
        if day != last:
            raise RealtalkError("'date' is no single day", fix="write 2026-03-02")

        chats = self._collection.choose(chat, person)
        days_before = [
            (time, message)
            for listed in chats
            for message in listed.messages
            if (time := message.time) is not None
            and (time.month, time.day) == (day.month, day.day)
            and time.date() < day
            and person in ("", message.message.speaker)
        ]
        days_before.sort(key=itemgetter(0))
        years = Counter(time.year for time, _ in days_before)
        found = [message for _, message in days_before]
        head = {"day": f"{day:%m-%d}", "messages_by_year": dict(years)}
        return page(head, "messages", found, _excerpt, offset, limit)

    def lost_contacts(
        self,
        me: str = "",
        least_messages: int = 100,
        quiet_days: int = 180,
        limit: int = 30,
        offset: int = 0,
    ) -> JsonObject:
        """List people with whom somebody wrote often, and no longer: private chats of at least
        least_messages whose last message is quiet_days older than the last of all chats.

        me: whose contacts; where it is left out, whoever is in most of the private chats.
        """
        check_page(offset, limit)
        if me:
            self._collection.choose(person=me)  # raises where nobody has this name
        found = lost(self._lines.frame, me, least_messages, quiet_days)
        return page(found, "people", found.pop("people"), dict, offset, limit)

    def year(self, person: str, year: int | None = None) -> JsonObject:
        """Tell a person's year in numbers, over all chats: messages, words, days, fullest day and
        month, longest streak, how usually they begin and answer, and with whom.

        year: such as 2026; where it is left out, the last in which they wrote.
        """
        self._collection.choose(person=person)
        return year_of(self._lines, person, year)

    def query(self, sql: str, limit: int = 50, offset: int = 0) -> JsonObject:
        """Count with one SELECT (DuckDB's SQL) over two tables, which can only be read.

        messages: chat, session, id, reply_to, person, time, date, hour, words, characters,
        question, links, image, video, audio, sticker, file, calls, edited, deleted, starts and ends
        (of a conversation), turn (the first message of one), reply_seconds; text only where the
        user allowed it. reactions: chat, date, giver, receiver, emoji, count. At most 1,000 rows
        and 10 seconds; use ORDER BY where you read on with offset.
        """
        check_page(offset, limit)
        asked = _check_text("sql", sql, _LONGEST_QUERY)
        rows = self._tables.rows(asked)
        head = {"cut": True} if len(rows) > MOST_RESULTS else {}
        return page(head, "rows", rows[:MOST_RESULTS], dict, offset, limit)


def _excerpt(message: ListedMessage) -> JsonObject:
    return {"chat": message.chat.id, **message.row(_EXCERPT)}


def _chat_row(chat: ListedChat) -> JsonObject:
    """A chat's people with their messages, its counts and dates."""
    messages = Counter(dict.fromkeys(chat.people, 0))
    messages.update(message.message.speaker for message in chat.messages)
    times = [message.time for message in chat.messages if message.time]
    numbers = [session.number for session in chat.display.sessions]
    most = messages.most_common(_PEOPLE)
    return {
        "chat": chat.id,
        "people": [{"name": name, "messages": count} for name, count in most],
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


def _check_text(name: str, text: str, most: int = _LONGEST) -> str:
    if not text.strip():
        raise RealtalkError(f"'{name}' is empty")
    if len(text) > most:
        raise RealtalkError(f"'{name}' is longer than {most} characters")
    return text.strip()
