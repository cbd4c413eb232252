"""All texts that may be learned from → one vocabulary of pieces for all languages.

    python -m research.training.languages_vocab --data ../shared/data
    → build/languages/tokenizer.json: [PAD] [UNK] [CLS] [SEP] and 65,532 pieces

Unigram pieces, so that a word of a language with little text still falls into few of them.
Decisions, each for chats: lower case, as the English encoder reads and as people type; accents
stay (they are words' only difference in Vietnamese, and half of the letters in Devanagari), but
Arabic vowel signs and its letters' typed variants, Hebrew points and the dot of a lowered Turkish
İ go; emoji come in words (`encoders.emoji`), so that what English knows of them holds everywhere;
marks stand alone. A word begins with "▁", but not in scripts without spaces, where the same word
would else have two pieces. Ids fit 16 bits, and 65,536 rows of 384 bytes are 25 MB.
"""

from __future__ import annotations

import argparse
import math
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from realtalk.text.words import emoji_in_words
from research.training.languages_sources import chats, everything

HERE = Path(__file__).parent
OUT = HERE / "build" / "languages"
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
PAD, UNKNOWN, FIRST, LAST = range(4)
SIZE = 65_536
FLAT = 0.5  # a language's share: its text to this power
MOST_OFTEN = 4  # times that a small language's text is read
RAREST = 4  # letters seen less often in all texts are left to [UNK]
LONGEST = 600  # letters of one text
UNSPACED = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"
ARABIC = {"أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ى": "ي", "ی": "ي", "ک": "ك", "ة": "ه"}
SILENT = "[\u064b-\u065f\u0670\u0640\u0591-\u05c7\u0307\u200b-\u200f\u2060\ufeff]"


def empty_tokenizer() -> Any:
    """How texts are cut into words, before any piece is known."""
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.NFKC(),
            normalizers.Lowercase(),
            normalizers.Replace(Regex(SILENT), ""),
            *(normalizers.Replace(old, new) for old, new in ARABIC.items()),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.WhitespaceSplit(),
            pre_tokenizers.Punctuation(),
            pre_tokenizers.Digits(individual_digits=False),
            pre_tokenizers.Metaspace(prepend_scheme="always"),
            pre_tokenizers.Split(Regex(f"▁(?={UNSPACED})"), behavior="removed"),
        ]
    )
    return tokenizer


def by_language(data: Path) -> dict[str, list[str]]:
    """Every text once per language, as the encoder will read it; twins are English texts."""
    seen: dict[str, set[str]] = defaultdict(set)
    for each in (*everything(data), *chats(data)):
        if each.split == "train":
            seen[each.lang].add(each.text)
            if each.en:
                seen["en"].add(each.en)
    # One order on every run: sets of strings have none.
    return {
        lang: [emoji_in_words(t)[:LONGEST] for t in sorted(seen[lang])] for lang in sorted(seen)
    }


def balanced(texts: dict[str, list[str]], rng: np.random.Generator) -> Iterator[str]:
    """Texts so that a language's share is its size to the power FLAT, all together as before."""
    sizes = {lang: sum(map(len, some)) for lang, some in texts.items()}
    weights = {lang: size**FLAT for lang, size in sizes.items()}
    scale = sum(sizes.values()) / sum(weights.values())
    for lang, some in texts.items():
        times = min(weights[lang] * scale / max(1, sizes[lang]), MOST_OFTEN)
        print(f"{lang:8} {len(some):8,} texts {sizes[lang]:11,} letters, read {times:.2f} times")
        for _ in range(math.floor(times)):
            yield from some
        left = rng.random(len(some)) < times - math.floor(times)
        yield from (text for text, is_left in zip(some, left, strict=True) if is_left)


def without_rare(texts: dict[str, list[str]]) -> dict[str, list[str]]:
    """The same without letters that hardly occur: each would be a piece of its own."""
    counts: Counter[str] = Counter()
    for some in texts.values():
        for text in some:
            counts.update(unicodedata.normalize("NFKC", text))
    rare = {ord(letter): " " for letter, n in counts.items() if n < RAREST}
    print(f"{len(counts):,} letters, {len(rare):,} of them rare")
    return {
        lang: [unicodedata.normalize("NFKC", text).translate(rare) for text in some]
        for lang, some in texts.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--out", type=Path, default=OUT / "tokenizer.json")
    parser.add_argument("--size", type=int, default=SIZE)
    parser.add_argument("--every", type=int, default=1, help="read one text in so many (a trial)")
    options = parser.parse_args()
    from tokenizers import trainers

    texts = {lang: some[:: options.every] for lang, some in by_language(options.data).items()}
    texts = without_rare(texts)
    tokenizer = empty_tokenizer()
    trainer = trainers.UnigramTrainer(
        vocab_size=options.size,
        special_tokens=list(SPECIAL),
        unk_token="[UNK]",
        max_piece_length=16,
        show_progress=False,
    )
    tokenizer.train_from_iterator(balanced(texts, np.random.default_rng(0)), trainer)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(options.out), pretty=False)
    print(f"{tokenizer.get_vocab_size():,} pieces, {options.out.stat().st_size / 1e6:.1f} MB")
    for lang, some in texts.items():  # how many pieces a text of each language costs
        sample = some[:: max(1, len(some) // 300)][:300]
        pieces = [e.ids for e in tokenizer.encode_batch(sample, add_special_tokens=False)]
        count = sum(map(len, pieces))
        unknown = sum(ids.count(UNKNOWN) for ids in pieces) / max(1, count)
        letters = sum(map(len, sample)) / max(1, count)
        print(f"{lang:8} {letters:.2f} letters per piece, unknown {unknown:.4f}")


if __name__ == "__main__":
    main()
