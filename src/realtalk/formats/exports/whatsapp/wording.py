"""What WhatsApp itself writes into an export, in the languages known to us.

    DELETED       "diese nachricht wurde gelöscht" ...   the whole text of a message
    EDITED        "this message was edited" ...          inside <> at the end of one
    ATTACHED      "file attached" ...                    after a file's name, in () or <>
    OMITTED       "image omitted" → "image" ...          for what was left out of the export
    IN_ANGLES     "medija praleista" ...                 the same, but only inside <>
    ENCRYPTED, GROUP_EVENTS ...                          patterns of system lines

The words are in `wording.txt`. Phrases are compared in lower case and without a full stop at the
end. None of this is needed where the structure decides (marks, file names): it is for lines that
only their words distinguish.
"""

from __future__ import annotations

from realtalk.text.wordlists import phrases, sections

WORDING = sections("realtalk.formats.exports.whatsapp", "wording.txt")
_LISTS = {
    name: phrases(WORDING[name])
    for name in ("deleted", "edited", "attached", "unsent", "called", "location")
}
AS_WRITTEN = frozenset(phrase for listed in _LISTS.values() for phrase in listed)
DELETED, EDITED, ATTACHED, UNSENT, CALLED, LOCATION = (
    frozenset(phrase.lower() for phrase in listed) for listed in _LISTS.values()
)
CALLS, VIEW_ONCE, ENCRYPTED, GROUP_EVENTS = (
    "(?i)" + WORDING[name].replace("\n", "")
    for name in ("calls", "view once", "encrypted", "group events")
)


def _omitted_files() -> dict[str, str]:
    """What stands for a file that was left out, in lower case, and which kind of file it was."""
    kinds = ("image", "video", "audio", "sticker", "media", "file", "contact")
    omitted = {
        "live location shared": "location",
        "view once voice message omitted": "audio",
        "view once message omitted": "media",
    }
    for language in WORDING["left out"].split("\n\n"):
        names, _, verbs = language.partition("=")
        for kind, group in zip(kinds, names.split(";"), strict=True):
            for name in phrases(group):
                for verb in phrases(verbs):
                    omitted.setdefault(f"{name} {verb}", "image" if name == "gif" else kind)
    for kind in kinds:
        for phrase in phrases(WORDING[f"left out {kind}"]):
            omitted.setdefault(phrase, kind)
    return omitted


OMITTED = _omitted_files()
IN_ANGLES = frozenset(phrase.lower() for phrase in phrases(WORDING["left out in angles"]))
