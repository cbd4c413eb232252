"""An invented chat, and a model on loopback that drafts questions about it and reads them."""

from __future__ import annotations

import json
from datetime import datetime, timedelta

from judge_server import Call
from realtalk.chat import Chat, Message, Session
from realtalk.memory.drafting import INFERRED, KINDS, SEVERAL, SINGLE, TEMPORAL
from text_tables import spoken

MODEL = "openai-api/local/tiny"
_STARTS = (datetime(2026, 3, 2, 18, 0), datetime(2026, 3, 9, 20, 0), datetime(2026, 4, 1, 9, 0))
_SAID = spoken("""
    Ines: I bought the greenhouse at last, it was 340 euros and weighs more than my piano
    Tobias: no way, who carried it up all these stairs, you live on the fourth floor
    Ines: my cousin Marek did, I only held the doors and made him a huge lasagne
    Ines: the storm yesterday broke a pane of the greenhouse, there is glass everywhere
    Tobias: oh no, is anything left of the tomatoes that you had put in there
    Ines: a few, Marek comes next friday with putty, he says he owes me for the lasagne
    Tobias: I start at the harbour museum today, they let me restore the old compasses
    Ines: that is wonderful news, after all these months in the call centre, wear wool
    Tobias: I will, the hall is unheated until May and my hands are stiff already
""")
_DRAFTS = {  # kind, a word of the messages → what is drafted: question, answer, messages
    (SINGLE, "340"): ("What did the greenhouse of Ines cost?", "340 euros", [1]),
    (SINGLE, "compasses"): ("What does Tobias restore at the museum?", "old compasses", [1]),
    (SINGLE, "putty"): ("What did the storm break?", "a pane of the greenhouse", [1]),
    (TEMPORAL, "storm"): ("When did the storm break the glass?", "8 March 2026", [1]),
    (TEMPORAL, "compasses"): ("When does Tobias start at the museum?", "7 July 2031", [1]),
    (SEVERAL, "putty"): ("Who carried and mended the greenhouse?", "Marek", [3, 6]),
    (INFERRED, "unheated"): ("Why are the hands of Tobias stiff?", "It is cold", [3]),
}
# What the model says of a question without having seen the chat.
_KNOWN = {"Why are the hands of Tobias stiff?": "because it is cold"}


def garden() -> Chat:
    """Ines and Tobias over three sessions of three messages."""
    sessions = []
    for number, start in enumerate(_STARTS, 1):
        messages = tuple(
            Message(f"D{number}:{at}", who, start + timedelta(minutes=at), text)
            for at, (who, text) in enumerate(_SAID[3 * number - 3 : 3 * number], 1)
        )
        sessions.append(Session(number, start, messages))
    return Chat("Chat_1_Ines_Tobias", ("Ines", "Tobias"), tuple(sessions))


def model_rule(call: Call) -> str:
    """Drafts from what is shown; reads by looking a question up, where its evidence is shown."""
    if "<messages>" not in call.prompt:
        return _answer(call.prompt)
    shown = call.prompt.split("<messages>")[1]
    kind = next(kind for kind, text in KINDS.items() if text in call.prompt)
    found = [draft for (of, word), draft in _DRAFTS.items() if of == kind and word in shown]
    question, answer, messages = found[0] if found else ("", "", [])
    return json.dumps({"question": question, "answer": answer, "messages": messages})


def _answer(prompt: str) -> str:
    question, answer, _ = next(draft for draft in _DRAFTS.values() if draft[0] in prompt)
    if "(nothing of the conversation is shown)" in prompt:
        return _KNOWN.get(question, "It is not mentioned.")
    return answer
