"""A small invented chat with events and questions, for the tests of memories."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from realtalk.chat import Alias, Attachment, Chat, Event, Question
from short_chats import said


def ask(text: str, id_: str = "Q1") -> Question:
    return Question(id_, text, "", "multi_hop")


def bakery() -> Chat:
    """Ines (also called Nessa) and Tobias over three sessions; the second passes midnight."""

    second = said(
        2,
        datetime(2026, 5, 8, 23, 50),
        "Tobias: still awake?",
        "Ines: ",
        "Ines: adopted her from the shelter, she is called Pepper",
        "Tobias: congratulations!!",
    )
    awake, photo, *after = second.messages
    photo = replace(photo, attachments=(Attachment("image", "1.jpg", "", "a grey kitten"),))
    late = (replace(each, time=datetime(2026, 5, 9, 0, 10)) for each in after)
    sessions = (
        said(
            1,
            datetime(2026, 5, 4, 9, 0),
            "Ines: good morning",
            "Tobias: morning Nessa\nhow is the bakery",
            "Ines: the oven broke, I am waiting for the mechanic",
            "Tobias: ugh, mine took two weeks",
            "Ines: at least the sourdough starter is alive",
        ),
        replace(second, messages=(awake, photo, *late)),
        said(
            3,
            datetime(2026, 5, 20, 18, 0),
            "Tobias: I signed up for the marathon in Porto",
            "Ines: wow, when is it",
            "Tobias: 8 November, I have to buy shoes",
        ),
    )
    events = (
        Event(1, "Ines", "Nessa's oven breaks and she waits for a mechanic."),
        Event(3, "Tobias", "Tobias signs up for a marathon in Porto."),
        Event(2, "Ines", "Nessa adopts a kitten from the shelter."),
        Event(2, "Tobias", "Tobias is told about the pet.", "observation", "", ("D2:3", "D2:4")),
        Event(2, None, "They talk about a pet at night.", "summary"),
    )
    aliases = (Alias("Nessa", "Ines", "D1:2"),)
    return Chat("Chat_9_Ines_Tobias", ("Ines", "Tobias"), sessions, events, (), aliases)
