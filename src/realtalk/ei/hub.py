"""Turns → labels by the paper's own classifiers, or any others, through `transformers`.

    labeller = HubLabeller()                                   # the paper's three
    labeller = HubLabeller({"sentiment": "my-folder"})         # one of your own, nothing else
    labeller.label(inputs)  → [Label(sentiment="positive", sentiment_p=0.91, emotion="joy", ...)]

Needs the extra `train`. Sentiment and emotion are the label with the highest probability;
that holds for an emotion model with several labels per text, too, as in the paper. Intimacy is
brought to 0-1: the paper's model was trained through a sigmoid, and its card reads its score as
the sigmoid of its one output. (transformers gives that sigmoid up to 4.45 and the bare output
from 4.46 on, so it is applied here; on which scale the paper printed its Table 7 is another
question, which `research.papers.intimacy` leaves open.) Other regressors are taken to answer on the
1-5 scale of the intimacy data, (x - 1) / 4, unless told otherwise. Reflectiveness, grounding and
empathy have no such classifier: the paper asks an LLM (see the judge).

    outputs("sentiment", {0: "LABEL_0", 1: "LABEL_1", 2: "LABEL_2"}, "some/model")
    → ("negative", "neutral", "positive")
    outputs("sentiment", {0: "1 star", 1: "3 stars", 2: "5 stars"}, "some/model")
    → ("negative", "neutral", "positive")
    outputs("emotion", {0: "happiness", 1: "sad"}, "some/model")
    → ("joy", "sadness")

Two outputs may carry one name ("very negative" and "negative"). An output without a name
here is an error: leaving it out would hand its turns to another label.

    found = find("sentiment", "cardiffnlp/twitter-roberta-base-sentiment-latest", False)
    found.title                → "cardiffnlp/twitter-roberta-base-sentiment-latest@3216a57f2a0d"
    logits(found, "cpu", "fp32", ["what a day"], advance)   → [[-1.2, 0.3, 2.2]]

Only weights are ever fetched; texts stay in this process. Texts of similar length share a
batch, so that little of it is padding.
"""

from __future__ import annotations

import hashlib
import math
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from realtalk.ei.labels import MEASURES, NO_TEXT, WORDS, Label, TurnInput
from realtalk.encoders.train_extra import batches, library, present_device
from realtalk.errors import RealtalkError
from realtalk.files.offline import no_hub, quiet
from realtalk.files.progress import Progress, silent
from realtalk.registry import known_name
from realtalk.text.wordlists import data_text

# measure → label → what other models call it
_SYNONYMS: Mapping[str, Mapping[str, Sequence[str]]] = tomllib.loads(
    data_text("realtalk.ei", "synonyms.toml")
)


def outputs(measure: str, id2label: Mapping[int, str], model: str) -> tuple[str, ...]:
    """This package's name for each output of a classifier, in the order of the outputs."""
    names = WORDS[measure]
    stated = [str(id2label[index]) for index in sorted(id2label)]
    # "LABEL_0" → "label 0", "Very-Negative " → "very negative"
    plain = [" ".join(re.findall(r"[^\W_]+", name.lower())) for name in stated]
    if plain == [f"label {number}" for number in range(len(names))]:
        # TweetEval and SemEval-2018 number their labels in the order that `names` has.
        return names
    synonyms = {synonym: name for name, others in _SYNONYMS[measure].items() for synonym in others}
    synonyms |= {name: name for name in names}
    strange = [theirs for theirs, name in zip(stated, plain, strict=True) if name not in synonyms]
    if strange:
        raise RealtalkError(
            f"the labels {', '.join(strange)} of its {len(stated)} ({', '.join(stated)}) "
            f"are not among {', '.join(names)}",
            where=f"{measure} model {model}",
            fix="give another model, or name its labels so in its config.json (id2label)",
        )
    mapped = tuple(synonyms[name] for name in plain)
    if len(set(mapped)) < 2:
        raise RealtalkError(
            f"it can only answer {', '.join(stated)}",
            where=f"{measure} model {model}",
            fix=f"give a model with at least two of {', '.join(names)}",
        )
    return mapped


Device = Literal["auto", "cpu", "cuda"]
WeightPrecision = Literal["auto", "fp32", "bf16"]

DEFAULTS = {
    "sentiment": "cardiffnlp/twitter-roberta-base-sentiment-latest",
    "emotion": "cardiffnlp/twitter-roberta-large-emotion-latest",
    "intimacy": "cardiffnlp/twitter-roberta-large-intimacy-latest",
}
_NONE = "none"
_USE = "labelling with hub classifiers"
# A batch holds at most so many tokens, padding counted: small ones are fastest on a CPU.
BATCH_TOKENS = {"cpu": 1024, "cuda": 32_768}
# These count positions from the padding token's number on, so the first few are never used.
_OFFSET_POSITIONS = ("roberta", "camembert", "mpnet", "longformer", "data2vec-text", "xmod")
_UNKNOWN_LENGTH = 512
_WEIGHTS = ("*.safetensors", "*.bin")

_USER = re.compile(r"(?<!\S)@\S+")
_LINK = re.compile(r"(?<!\S)http\S*")


def parse_models(given: Sequence[str]) -> dict[str, str]:
    """`["emotion=folder"]` over the paper's three; `emotion=none` leaves a measure out."""
    models = dict(DEFAULTS)
    for item in given:
        measure, equals, name = item.partition("=")
        if not equals or not name.strip():
            raise RealtalkError(
                f"'{item}' names no model", fix="write MEASURE=NAME, e.g. sentiment=my-folder"
            )
        known_name("hub measure", measure.strip(), DEFAULTS)
        models[measure.strip()] = name.strip()
    return {measure: name for measure, name in models.items() if name.lower() != _NONE}


def tweet(text: str) -> str:
    """A turn in the form these classifiers were trained on: one line, no names, no links."""
    return " ".join(_LINK.sub("http", _USER.sub("@user", text)).split())


class HubClassifier(NamedTuple):
    """A classifier whose settings were read but whose weights were not loaded yet."""

    measure: str
    place: str  # what `from_pretrained` is given ...
    where: Mapping[str, Any]  # ... and what beside it
    title: str  # name@revision, without the folders of this machine
    config: Any

    def reach(self) -> AbstractContextManager[None]:
        """What is loaded within may reach the hub only where the user allowed it."""
        return _reach(self.where)


def _reach(where: Mapping[str, Any]) -> AbstractContextManager[None]:
    return no_hub() if where["local_files_only"] else nullcontext()


def find(measure: str, name: str, local_files_only: bool) -> HubClassifier:
    """A classifier's settings from a folder, the cache or the hub: quick, and fails early."""
    transformers = library("transformers", _USE)
    folder = Path(name).expanduser()
    is_folder = folder.is_dir()
    if not is_folder and (
        folder.is_absolute() or name.startswith((".", "~")) or name.count("/") > 1
    ):
        raise RealtalkError(
            "no such folder", where=f"{measure} model {name}", fix=_cure(measure, hub=False)
        )
    place, _, pinned = (str(folder), "", "") if is_folder else name.partition("@")
    where = {
        "revision": pinned or None,
        "local_files_only": is_folder or local_files_only,
        "trust_remote_code": False,
    }
    with quiet(transformers), load_errors(measure, name), _reach(where):
        config = transformers.AutoConfig.from_pretrained(place, **where)
    if is_folder:
        title = f"{folder.resolve().name}@{_hash(folder, measure)}"
    else:
        # What was read is what will be loaded, even if the hub moves on in between.
        where["revision"] = revision = getattr(config, "_commit_hash", None) or pinned or None
        title = f"{place}@{(revision or 'unknown')[:12]}"
    return HubClassifier(measure, place, where, title, config)


def settle(device: Device, precision: WeightPrecision) -> tuple[str, str]:
    """The device and precision to use: bf16 on a GPU, fp32 elsewhere, unless told."""
    where = present_device(library("torch", _USE), device)
    return where, precision if precision != "auto" else ("bf16" if where == "cuda" else "fp32")


def logits(
    classifier: HubClassifier,
    device: str,
    precision: str,
    texts: Sequence[str],
    advance: Callable[[int], None],
) -> list[list[float]]:
    """A model's outputs, one row per text; `advance` hears of every finished batch's size.

    Its weights are given back at the end: one model at a time fits in memory.
    """
    torch, transformers = library("torch", _USE), library("transformers", _USE)
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
    rows: list[list[float]] = [[] for _ in texts]
    most = longest(model.config, tokenizer)
    tokens = tokenizer(list(texts), truncation=True, max_length=most) if texts else {}
    lengths = [len(row) for row in tokens.get("input_ids", ())]
    for batch in batches(lengths, BATCH_TOKENS[device]):
        padded = tokenizer.pad(
            {name: [every[at] for at in batch] for name, every in tokens.items()},
            return_tensors="pt",
        ).to(device)
        with torch.inference_mode():
            outputs_of_batch = model(**padded).logits.float().cpu().tolist()
        for at, row in zip(batch, outputs_of_batch, strict=True):
            rows[at] = row
        advance(len(batch))
    del model
    if device == "cuda":
        torch.cuda.empty_cache()
    return rows


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
    alternative = " or check the name and the network" if hub else " or the name of a hub model"
    option = f": `model={measure}=FOLDER`" if measure in DEFAULTS else ""
    return f"give a folder that holds config.json, weights and tokenizer{option},{alternative}"


def _hash(folder: Path, measure: str) -> str:
    """What a folder's settings and weights are, whatever the folder is called."""
    weights = next(filter(None, (sorted(folder.glob(pattern)) for pattern in _WEIGHTS)), None)
    if weights is None:
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


Scale = Literal["auto", "sigmoid", "0-1", "1-5"]
_Answer: TypeAlias = "tuple[str | float, float | None] | None"  # the label and its probability

# The hub's two intimacy models (base and large) and their copies in folders.
_THROUGH_SIGMOID = "intimacy-latest"
# A regressor may miss the ends of its scale by so much of it; further off, the scale is wrong.
_OVERSHOOT = 0.1


class HubLabeller:
    """Classifiers from the hub or from folders, one per measure; the rest is unscored.

    `models` maps sentiment, emotion and intimacy to a hub name, `name@revision`, or a folder;
    a measure that it leaves out is not scored. `version` names every model with its revision
    (a folder with a hash of its files), the scale of intimacy and the precision.
    """

    name = "hub"

    def __init__(
        self,
        models: Mapping[str, str] | None = None,
        *,
        device: Device = "auto",
        precision: WeightPrecision = "auto",
        scale: Scale = "auto",
        local_files_only: bool = False,
    ) -> None:
        self._device, self._precision = settle(device, precision)
        self._found: dict[str, HubClassifier] = {}
        self._names: dict[str, tuple[str, ...]] = {}
        self._scale: Scale = scale
        for measure, name in (DEFAULTS if models is None else models).items():
            known_name("hub measure", measure, DEFAULTS)
            self._found[measure] = classifier = find(measure, name, local_files_only)
            if measure == "intimacy":
                if scale == "auto":
                    self._scale = "sigmoid" if _THROUGH_SIGMOID in name else "1-5"
                _check_regressor(classifier)
            else:
                self._names[measure] = outputs(
                    measure, classifier.config.id2label, classifier.title
                )
        titles = {measure: classifier.title for measure, classifier in self._found.items()}
        if "intimacy" in titles:
            titles["intimacy"] += f" ({self._scale})"
        parts = [f"{measure}={titles[measure]}" for measure in MEASURES if measure in titles]
        self.version = "; ".join([*parts, self._precision])

    def label(self, inputs: Sequence[TurnInput], progress: Progress = silent) -> list[Label]:
        """One label per turn, in order. The same text is only read once."""
        texts = [tweet(turn.text) for turn in inputs]
        unique = list(dict.fromkeys(text for text in texts if text))
        answers: dict[str, dict[str, _Answer]] = {}
        done, total = 0, len(unique) * len(self._found)
        for measure, model in self._found.items():
            progress(done, total, f"measuring {measure}")

            def advance(count: int, what: str = measure) -> None:
                nonlocal done
                done += count
                progress(done, total, f"measuring {what}")

            rows = logits(model, self._device, self._precision, unique, advance)
            answers[measure] = {
                text: self._answer(measure, row) for text, row in zip(unique, rows, strict=True)
            }
        return [self._label(text, answers) for text in texts]

    def _answer(self, measure: str, row: Sequence[float]) -> _Answer:
        if not all(math.isfinite(value) for value in row):
            return None
        if measure == "intimacy":
            return row[0], None
        from scipy.special import expit, softmax

        several = self._found[measure].config.problem_type == "multi_label_classification"
        chances = (expit(row) if several else softmax(row)).tolist()
        by_name: dict[str, float] = {}
        for name, chance in zip(self._names[measure], chances, strict=True):
            before = by_name.get(name, 0.0)
            by_name[name] = max(before, chance) if several else before + chance
        best = max(by_name, key=lambda name: by_name[name])
        return best, by_name[best]

    def _label(self, text: str, answers: Mapping[str, Mapping[str, _Answer]]) -> Label:
        values: dict[str, Any] = {}
        unscored: dict[str, str] = {}
        for measure in MEASURES:
            if measure not in answers:
                unscored[measure] = "no hub classifier"
            elif not text:
                unscored[measure] = NO_TEXT
            elif (answer := answers[measure][text]) is None:
                unscored[measure] = "the model gave no number"
            elif measure != "intimacy":
                values[measure], values[f"{measure}_p"] = answer
            elif (level := _level(float(answer[0]), self._scale)) is None:
                unscored[measure] = "the score is off the model's scale"
            else:
                values[measure] = level
        return Label(**values, unscored=unscored)


def _check_regressor(classifier: HubClassifier) -> None:
    count = int(classifier.config.num_labels)
    if count != 1:
        raise RealtalkError(
            f"it has {count} outputs where intimacy needs one score",
            where=f"intimacy model {classifier.title}",
            fix="give a regression model",
        )


def _level(raw: float, scale: Scale) -> float | None:
    """A regressor's output as 0-1, or None where it cannot be on that scale."""
    if scale == "sigmoid":
        from scipy.special import expit

        return float(expit(raw))
    level = raw if scale == "0-1" else (raw - 1) / 4
    return None if not -_OVERSHOOT <= level <= 1 + _OVERSHOOT else min(max(level, 0.0), 1.0)
