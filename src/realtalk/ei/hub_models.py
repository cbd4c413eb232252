"""A hub name or a folder → a classifier that turns texts into rows of numbers.

    found = find("sentiment", "cardiffnlp/twitter-roberta-base-sentiment-latest", False)
    found.title                → "cardiffnlp/twitter-roberta-base-sentiment-latest@3216a57f2a0d"
    with load(found, "cpu", "fp32") as classifier:
        classifier.logits(["what a day"], advance)   → [[-1.2, 0.3, 2.2]]

Only weights are ever fetched; texts stay in this process. Texts of similar length share a
batch, so that little of it is padding.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from realtalk.errors import MissingExtraError, RealtalkError
from realtalk.local.offline import no_hub, quiet
from realtalk.registry import suggest

__all__ = [
    "BATCH_TOKENS",
    "DEFAULTS",
    "Classifier",
    "Device",
    "HubClassifier",
    "WeightPrecision",
    "batches",
    "find",
    "load",
    "load_errors",
    "longest",
    "parse_models",
    "quiet",
    "settle",
    "tweet",
]

Device = Literal["auto", "cpu", "cuda"]
WeightPrecision = Literal["auto", "fp32", "bf16"]

DEFAULTS = {
    "sentiment": "cardiffnlp/twitter-roberta-base-sentiment-latest",
    "emotion": "cardiffnlp/twitter-roberta-large-emotion-latest",
    "intimacy": "cardiffnlp/twitter-roberta-large-intimacy-latest",
}
_NONE = "none"
# A batch holds at most so many tokens, padding counted: small ones are fastest on a CPU.
BATCH_TOKENS = {"cpu": 1024, "cuda": 32_768}
_BATCH_TEXTS = 256
# These count positions from the padding token's number on, so the first few are never used.
_OFFSET_POSITIONS = ("roberta", "camembert", "mpnet", "longformer", "data2vec-text", "xmod")
_UNKNOWN_LENGTH = 512
_WEIGHTS = ("*.safetensors", "*.bin")

_USER = re.compile(r"(?<!\S)@\S+")
_LINK = re.compile(r"(?<!\S)http\S*")


def parse_models(given: Sequence[str]) -> dict[str, str]:
    """`["emotion=folder"]` over the paper's three; `emotion=none` leaves a measure out."""
    chosen = dict(DEFAULTS)
    for item in given:
        measure, equals, name = item.partition("=")
        if not equals or not name.strip():
            raise RealtalkError(
                f"'{item}' names no model", fix="write MEASURE=NAME, e.g. sentiment=my-folder"
            )
        if measure.strip() not in DEFAULTS:
            raise suggest("hub measure", measure.strip(), list(DEFAULTS))
        chosen[measure.strip()] = name.strip()
    return {measure: name for measure, name in chosen.items() if name.lower() != _NONE}


def tweet(text: str) -> str:
    """A turn in the form these classifiers were trained on: one line, no names, no links."""
    return " ".join(_LINK.sub("http", _USER.sub("@user", text)).split())


@dataclass(frozen=True, slots=True)
class HubClassifier:
    """A classifier whose settings were read but whose weights were not loaded yet."""

    measure: str
    place: str  # what `from_pretrained` is given
    revision: str | None
    title: str  # name@revision, without the folders of this machine
    offline: bool
    config: Any

    @property
    def where(self) -> dict[str, Any]:
        """What `from_pretrained` is given beside the place."""
        return {
            "revision": self.revision,
            "local_files_only": self.offline,
            "trust_remote_code": False,
        }

    def reach(self) -> AbstractContextManager[None]:
        """What is loaded within may reach the hub only where the user allowed it."""
        return _reach(self.offline)


def find(measure: str, name: str, local_files_only: bool) -> HubClassifier:
    """A classifier's settings from a folder, the cache or the hub: quick, and fails early."""
    transformers = _library("transformers")
    folder = Path(name).expanduser()
    if folder.is_dir():
        place, revision, offline = str(folder), None, True
    elif folder.is_absolute() or name.startswith((".", "~")) or name.count("/") > 1:
        raise RealtalkError(
            "no such folder", where=f"{measure} model {name}", fix=_cure(measure, hub=False)
        )
    else:
        place, _, pinned = name.partition("@")
        revision, offline = pinned or None, local_files_only
    with quiet(transformers), load_errors(measure, name), _reach(offline):
        config = transformers.AutoConfig.from_pretrained(
            place, revision=revision, local_files_only=offline, trust_remote_code=False
        )
    if folder.is_dir():
        title = f"{folder.resolve().name}@{_hash(folder, measure)}"
    else:
        commit = getattr(config, "_commit_hash", None) or revision or "unknown"
        title = f"{place}@{commit[:12]}"
        # What was read is what will be loaded, even if the hub moves on in between.
        revision = getattr(config, "_commit_hash", None) or revision
    return HubClassifier(measure, place, revision, title, offline, config)


def _reach(offline: bool) -> AbstractContextManager[None]:
    return no_hub() if offline else nullcontext()


def settle(device: Device, precision: WeightPrecision) -> tuple[str, str]:
    """The device and precision to use: bf16 on a GPU, fp32 elsewhere, unless told."""
    torch = _library("torch")
    has_gpu = bool(torch.cuda.is_available())
    if device == "cuda" and not has_gpu:
        raise RealtalkError("no CUDA device can be used", fix="pass the device cpu or auto")
    where = device if device != "auto" else ("cuda" if has_gpu else "cpu")
    return where, precision if precision != "auto" else ("bf16" if where == "cuda" else "fp32")


class Classifier:
    """A loaded model and its tokenizer."""

    def __init__(self, model: Any, tokenizer: Any, device: str) -> None:
        self._torch = _library("torch")
        self._model = model
        self._tokenizer = tokenizer
        self._device = device
        self._longest = longest(model.config, tokenizer)

    def logits(self, texts: Sequence[str], advance: Callable[[int], None]) -> list[list[float]]:
        """The model's outputs, one row per text; `advance` hears of every finished batch's size."""
        if not texts:
            return []
        tokens = self._tokenizer(
            list(texts), truncation=True, max_length=self._longest, padding=False
        )
        names = list(tokens)
        lengths = [len(row) for row in tokens["input_ids"]]
        rows: list[list[float]] = [[] for _ in texts]
        for batch in batches(lengths, BATCH_TOKENS[self._device]):
            padded = self._tokenizer.pad(
                {name: [tokens[name][index] for index in batch] for name in names},
                return_tensors="pt",
            ).to(self._device)
            with self._torch.inference_mode():
                batch_outputs = self._model(**padded).logits.float().cpu().tolist()
            for index, row in zip(batch, batch_outputs, strict=True):
                rows[index] = row
            advance(len(batch))
        return rows


@contextmanager
def load(classifier: HubClassifier, device: str, precision: str) -> Iterator[Classifier]:
    """A classifier with its weights, given back at the end: one at a time fits in memory."""
    torch, transformers = _library("torch"), _library("transformers")
    with quiet(transformers), load_errors(classifier.measure, classifier.place), classifier.reach():
        tokenizer = transformers.AutoTokenizer.from_pretrained(classifier.place, **classifier.where)
        model, notes = transformers.AutoModelForSequenceClassification.from_pretrained(
            classifier.place,
            dtype=torch.bfloat16 if precision == "bf16" else torch.float32,
            output_loading_info=True,
            **classifier.where,
        )
    if notes["missing_keys"]:
        raise RealtalkError(
            "it has no trained classification head",
            where=f"{classifier.measure} model {classifier.title}",
            fix="give a model that was trained to classify text",
        )
    model = model.to(device).eval()
    try:
        yield Classifier(model, tokenizer, device)
    finally:
        del model
        if device == "cuda":
            torch.cuda.empty_cache()


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingExtraError("labelling with hub classifiers", "train") from error


@contextmanager
def load_errors(measure: str, name: str) -> Iterator[None]:
    """Whatever goes wrong while a model is found or loaded, in one line with its cure."""
    try:
        yield
    except (RealtalkError, MemoryError):
        raise
    # The library raises its own, the hub client's, the HTTP client's and the file formats'
    # errors here, none of which has a common ancestor below Exception.
    except Exception as error:
        raise RealtalkError(
            "the model could not be loaded from there"
            if Path(name).expanduser().is_dir()
            else "no such model on the hub, or the hub cannot be reached",
            where=f"{measure} model {name}",
            fix=_cure(measure, hub=True),
        ) from error


def _cure(measure: str, hub: bool) -> str:
    other = " or check the name and the network" if hub else " or the name of a hub model"
    option = f": --model {measure}=FOLDER" if measure in DEFAULTS else ""
    return f"give a folder that holds config.json, weights and tokenizer{option},{other}"


def _hash(folder: Path, measure: str) -> str:
    """What a folder's settings and weights are, whatever the folder is called."""
    for pattern in _WEIGHTS:
        weights = sorted(folder.glob(pattern))
        if weights:
            break
    else:
        raise RealtalkError(
            "the folder holds no weights (model.safetensors)",
            where=f"{measure} model {folder.name}",
            fix=_cure(measure, hub=False),
        )
    digest = hashlib.sha256()
    for path in (folder / "config.json", *weights):
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:12]


def longest(config: Any, tokenizer: Any) -> int:
    """How many tokens a model can take; tokenizers without a limit say 10^30."""
    positions = getattr(config, "max_position_embeddings", None)
    limits = [int(tokenizer.model_max_length)]
    if isinstance(positions, int) and positions > 0:
        kind = str(getattr(config, "model_type", ""))
        offset = any(name in kind for name in _OFFSET_POSITIONS)
        limits.append(positions - (int(config.pad_token_id or 0) + 1 if offset else 0))
    most = min(limits)
    return most if most < 10**6 else _UNKNOWN_LENGTH


def batches(lengths: Sequence[int], most: int) -> Iterator[list[int]]:
    """Positions of texts, longest first, in batches of at most `most` padded tokens.

    The longest come first so that too large a batch for the memory fails at once.
    """
    order = sorted(range(len(lengths)), key=lambda index: (-lengths[index], index))
    batch: list[int] = []
    for index in order:
        if batch and (len(batch) == _BATCH_TEXTS or lengths[batch[0]] * (len(batch) + 1) > most):
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch
