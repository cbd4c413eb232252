"""What Messenger and Instagram write into a conversation by themselves, by language.

    sort_of(f"{SUBJECT} named the group Garden club.")  → "notice"
    sort_of("Du hast einen Anhang gesendet.")           → "sent", the app's words for a file
    sort_of("see you at nine")                          → None

The sentences are in `meta_wording.txt`, which says how they are written. Languages that are not
there are read by their structure (`meta_notices`); a phrase that is missing costs nothing but
certainty.
"""

from __future__ import annotations

import re
from typing import Literal, get_args

from realtalk.text.wordlists import data_text

Sort = Literal["unsent", "sent", "notice"]
SUBJECT = "\ue000"  # stands for the name of whoever did it

_WORDS = {
    "{x}": r".{1,300}?",
    "{e}": r"[^\w\s]{1,16}(?: ?[^\w\s]{1,16})?",
}


def _templates() -> list[tuple[Sort, str, str]]:
    """Every template: what it tells of, its mark ("", "!" or "*") and its words."""
    templates: list[tuple[Sort, str, str]] = []
    table = data_text("realtalk.corpora.exports", "meta_wording.txt")
    for line in re.sub(r"\n ", " ", re.sub(r"\|\n ", "|", table)).splitlines():
        kind, colon, sentences = line.partition(": ")
        sort: Sort = "sent" if kind == "sent" else "unsent" if kind == "unsent" else "notice"
        for written in sentences.split(" | ") if colon else ():
            template = written.strip()
            mark = template[:1] if template[:1] in ("!", "*") else ""
            templates.append((sort, mark, template.removeprefix(mark)))
    return templates


def _regex(template: str) -> str:
    body = template.rstrip(".")
    stop = r"[.。।]?" if body != template else ""
    body = re.sub(r"\.(?!\{)", r"\\.", body)
    body = re.sub(r"(?<!\[)\((?!\?)", "(?:", body)  # groups that capture nothing fail faster
    for name, pattern in _WORDS.items():
        body = body.replace(name, pattern)
    return body.replace("{s}", SUBJECT) + stop


def _any_of(templates: list[str]) -> str:
    return "|".join(f"(?:{_regex(template)})" for template in templates)


def _first_words(template: str) -> set[str]:
    """The words that may follow whoever did it."""
    after = template.partition("{s}")[2]
    group = re.match(r"[,?]* \(([^()]*)", after) or re.match(r"[,?]* ([\w]+)", after)
    return (
        {words[0] for choice in group[1].split("|") if (words := choice.split())}
        if group
        else set()
    )


_TEMPLATES = _templates()
_MARKED = {mark: [words for _, own, words in _TEMPLATES if own == mark] for mark in ("!", "*")}
_BY_SORT = re.compile(
    "|".join(
        f"(?P<{sort}>{_any_of([words for own, _, words in _TEMPLATES if own == sort])})"
        for sort in get_args(Sort)
    )
)
_PARTICULAR, _OF_ANYBODY = (re.compile(_any_of(_MARKED[mark])) for mark in ("!", "*"))
FIRST_WORDS = frozenset(word for template in _MARKED["!"] for word in _first_words(template))


def sort_of(text: str) -> Sort | None:
    """What a text is in which SUBJECT stands for the sender; None where no template fits."""
    match = _BY_SORT.fullmatch(text)
    if match is None:
        return None
    return next((sort for sort in get_args(Sort) if match[sort] is not None), None)


def is_particular(text: str) -> bool:
    """Whether no person writes this, whatever the SUBJECT is."""
    return _PARTICULAR.fullmatch(text) is not None


def is_of_anybody(text: str) -> bool:
    """Whether the app writes this of people who are not the sender."""
    return _OF_ANYBODY.fullmatch(text) is not None
