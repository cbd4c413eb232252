"""Simulated and real texts → BERTScore, by a model of the hub or a folder.

    found = BertScore("roberta-large")
    found.scores([("see you there", "meet you at the bar")])
    → [0.90]
    found.version    → "BERTScore FacebookAI/roberta-large@722cf37b1afa layer 17"

Every token goes with the nearest token of the other text, by the vectors of one of the model's
layers; cosines are averaged over the prediction (precision) and over the truth (recall), and the
score is their F1. As in the first implementation, the marks around a text may be matched with but
have no say themselves; no weights by rarity, no rescaling. Needs the extra `train`; only weights
are fetched, texts stay in this process. Without such a model the shipped encoder takes its place
(metrics/similarity.py).
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from realtalk.ei.hub import BATCH_TOKENS, find, load_errors, longest, settle
from realtalk.encoders.train_extra import batches, library
from realtalk.errors import RealtalkError
from realtalk.files.offline import quiet
from realtalk.files.progress import Progress, silent
from realtalk.text.wordlists import data_text

_ROLE = "BERTScore"
_AT_ONCE = 256  # pairs whose token vectors are held
# Their tokens know whether a space comes before; a text begins as if one did.
_SPACED = ("roberta", "bart", "gpt2", "deberta")
LAYERS: Mapping[str, int] = tomllib.loads(data_text("realtalk.persona", "layers.toml"))


class BertScore:
    """One model, loaded when the first texts come. `layer` counts from 1; known for some models."""

    def __init__(self, model: str, *, layer: int | None = None) -> None:
        library("torch", _ROLE)  # its own words where the extra is missing
        self._device, _ = settle("auto", "fp32")
        self._found = find(_ROLE, model, local_files_only=False)
        self._layer = _layer(self._found.title, self._found.config, layer)
        self.version = f"BERTScore {self._found.title} layer {self._layer}"
        self._loaded: tuple[Any, Any] | None = None

    def scores(
        self, pairs: Sequence[tuple[str, str]], progress: Progress = silent
    ) -> list[float | None]:
        """(prediction, truth) → one score each; None where a side has no token of its own."""
        scores: list[float | None] = []
        for start in range(0, len(pairs), _AT_ONCE):
            part = pairs[start : start + _AT_ONCE]
            texts = list(dict.fromkeys(text.strip() for pair in part for text in pair))
            vectors = dict(zip(texts, self._vectors(texts), strict=True))
            scores += [_f1(*(vectors[text.strip()] for text in pair)) for pair in part]
            progress(len(scores), len(pairs), "BERTScore")
        return scores

    def _load(self) -> tuple[Any, Any]:
        if self._loaded is None:
            transformers, source = library("transformers", _ROLE), self._found
            with quiet(transformers), load_errors(_ROLE, source.place), source.reach():
                tokenizer = transformers.AutoTokenizer.from_pretrained(source.place, **source.where)
                model = transformers.AutoModel.from_pretrained(
                    source.place, dtype=library("torch", _ROLE).float32, **source.where
                )
            self._loaded = model.to(self._device).eval(), tokenizer
        return self._loaded

    def _vectors(self, texts: Sequence[str]) -> list[tuple[Any, Any]]:
        """Token vectors of length 1 of every text, and which tokens are its own."""
        torch = library("torch", _ROLE)
        model, tokenizer = self._load()
        most = longest(model.config, tokenizer)
        space = " " if model.config.model_type in _SPACED else ""
        inputs = [space + text if text else "" for text in texts]
        tokens = tokenizer(inputs, truncation=True, max_length=most, padding=False)
        marks = {tokenizer.cls_token_id, tokenizer.sep_token_id}
        vectors: list[tuple[Any, Any]] = [(None, None)] * len(texts)
        lengths = [len(row) for row in tokens["input_ids"]]
        for batch in batches(lengths, BATCH_TOKENS[self._device]):
            padded = tokenizer.pad(
                {name: [tokens[name][at] for at in batch] for name in tokens}, return_tensors="pt"
            ).to(self._device)
            with torch.inference_mode():
                layers = model(**padded, output_hidden_states=True).hidden_states
                near = torch.nn.functional.normalize(layers[self._layer].float(), dim=-1).cpu()
            sides = padded["attention_mask"].cpu().bool()
            for row, at in enumerate(batch):
                own = torch.tensor([token not in marks for token in tokens["input_ids"][at]])
                vectors[at] = near[row][sides[row]], own
        return vectors


def _f1(prediction: tuple[Any, Any], truth: tuple[Any, Any]) -> float | None:
    (tokens, own), (real, its_own) = prediction, truth
    if not (own.any() and its_own.any()):
        return None
    near = tokens @ real.T
    precision = float(near.max(dim=1).values[own].mean())
    recall = float(near.max(dim=0).values[its_own].mean())
    total = precision + recall
    return 2 * precision * recall / total if total else 0.0


def _layer(title: str, config: Any, given: int | None) -> int:
    deepest = int(config.num_hidden_layers)
    if given is not None:
        if not 1 <= given <= deepest:
            raise RealtalkError(
                f"there is no layer {given} of {deepest}", where=f"{_ROLE} model {title}"
            )
        return given
    name = title.partition("@")[0].rpartition("/")[2]
    if name not in LAYERS or LAYERS[name] > deepest:
        raise RealtalkError(
            "it is not known which layer of this model to compare by",
            where=f"{_ROLE} model {title}",
            fix=f"name one, from 1 to {deepest}: `bertscore_layer=N`",
        )
    return LAYERS[name]
