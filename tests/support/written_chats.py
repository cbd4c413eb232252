"""One list of messages, written in every format that is read.

    said = [Said("Mara", 0, "hi"), Said("Theo", 60, "ho", reply=0)]
    FORMS["telegram"].write(said)    → {"result.json": b'{"name": "x", ...}'}
    FORMS["telegram"].format         → "telegram", the name of the reader

The words come as they are, however odd: that is what these files are for.
"""

from __future__ import annotations

from said import Form, Said
from written_apple import APPLE
from written_downloads import DOWNLOADS
from written_exports import EXPORTS
from written_phones import PHONES
from written_published import PUBLISHED

__all__ = ["FORMS", "Form", "Said"]

FORMS: dict[str, Form] = PUBLISHED | EXPORTS | APPLE | DOWNLOADS | PHONES
