"""The hub's way of measuring, with tiny random models saved to disk instead of the hub's."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from realtalk.ei.hub import DEFAULTS, HubLabeller, find, outputs, parse_models, tweet
from realtalk.ei.labels import EMOTIONS, SENTIMENTS, Label, TurnInput, label_frame
from realtalk.errors import MissingExtraError
from refusals import refused
from text_tables import cases
from tiny_models import needs_torch, roberta_tokenizer

TEXTS = (
    "we missed the last ferry and slept on the pier",
    "ha",
    "that soup was the best thing I ate all week, honestly, I could drink a bucket of it",
    "no",
    "my grandmother's piano is finally in tune again",
    "where are you",
    "I keep thinking about what you said on the roof " * 40,
    "ok see you at nine then",
)
Maker = Callable[..., str]


def turn(text: str, number: int = 0) -> TurnInput:
    return TurnInput("Chat_1", 1, number, "Mara", (f"D1:{number}",), None, text, "")


def turns(texts: Sequence[str]) -> list[TurnInput]:
    return [turn(text, number) for number, text in enumerate(texts)]


@pytest.fixture(scope="session")
def tokenizer() -> Any:
    return roberta_tokenizer(TEXTS, 400)


@pytest.fixture
def make(tmp_path: Path, tokenizer: Any) -> Maker:
    """Saves a random two-layer classifier with the labels given and says where."""
    torch, transformers = import_module("torch"), import_module("transformers")

    def saved(
        name: str,
        labels: Sequence[str],
        problem: str | None = None,
        bias: Sequence[float] | None = None,
        head: bool = True,
    ) -> str:
        torch.manual_seed(7)
        config = transformers.RobertaConfig(
            **{"vocab_size": 400, "hidden_size": 32, "num_hidden_layers": 2},
            **{"num_attention_heads": 2, "intermediate_size": 64, "type_vocab_size": 1},
            **{"max_position_embeddings": 66, "pad_token_id": 1, "problem_type": problem},
            id2label=dict(enumerate(labels)),
            label2id={label: index for index, label in enumerate(labels)},
            # Ordinary starting weights give nearly the same answer to every text.
            initializer_range=0.6,
        )
        kind = "RobertaForSequenceClassification" if head else "RobertaModel"
        model = getattr(transformers, kind)(config)
        if bias is not None:
            with torch.no_grad():
                model.classifier.out_proj.weight.zero_()
                model.classifier.out_proj.bias.copy_(torch.tensor(bias))
        folder = tmp_path / name
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        return str(folder)

    return saved


def only(measure: str, folder: str, texts: Sequence[str] = ("so it goes",), **more: Any) -> Label:
    """The label of one short text by one model."""
    return HubLabeller({measure: folder}, device="cpu", **more).label(turns(texts))[0]


@needs_torch
def test_every_kind_of_model_labels_its_measure(make: Maker) -> None:
    labeller = HubLabeller(
        {
            "sentiment": make("feeling", SENTIMENTS),
            "emotion": make("eleven", EMOTIONS, "multi_label_classification"),
            "intimacy": make("x-intimacy-latest", ["LABEL_0"], "regression"),
        },
        device="cpu",
    )
    labels = labeller.label(turns(TEXTS))
    assert len({label.sentiment for label in labels}) > 1
    assert len({label.emotion for label in labels}) > 1
    for label in labels:
        assert label.sentiment in SENTIMENTS
        assert label.emotion in EMOTIONS
        assert label.sentiment_p is not None and 1 / 3 <= label.sentiment_p <= 1
        assert label.emotion_p is not None and 0 < label.emotion_p < 1
        assert label.intimacy is not None and 0 < label.intimacy < 1
        assert dict(label.unscored) == dict.fromkeys(
            ("reflective", "grounding", "empathy"), "no hub classifier"
        )
        assert label.reflective is None and label.grounding is None and label.empathy is None
    frame = label_frame(turns(TEXTS), labels, labeller)
    assert frame["measure"].unique().to_list() == ["hub"]


@needs_torch
def test_the_classifiers_agree_with_the_library_itself(make: Maker) -> None:
    transformers = import_module("transformers")
    feeling = make("feeling", SENTIMENTS)
    eleven = make("eleven", EMOTIONS, "multi_label_classification")
    models = {"sentiment": feeling, "emotion": eleven}
    labels = HubLabeller(models, device="cpu").label(turns(TEXTS))
    for measure, folder in models.items():
        pipe = transformers.pipeline("text-classification", model=folder, device="cpu")
        for text, label in zip(TEXTS, labels, strict=True):
            theirs = pipe(text.strip(), truncation=True, max_length=64)[0]
            assert getattr(label, measure) == theirs["label"]
            assert getattr(label, f"{measure}_p") == pytest.approx(theirs["score"], abs=1e-5)


@needs_torch
def test_intimacy_is_brought_to_its_scale(make: Maker) -> None:
    def score(name: str, raw: float, **more: Any) -> Label:
        return only("intimacy", make(name, ["LABEL_0"], "regression", [raw]), **more)

    # The example on the paper's model's card: an output of 0.0985 reads as 0.5246.
    assert score("intimacy-latest", 0.0985).intimacy == pytest.approx(0.5246, abs=1e-4)
    assert score("a", 3.0).intimacy == pytest.approx(0.5)
    assert score("b", 0.9).intimacy == 0  # a little under the scale's end
    assert score("c", 0.3, scale="0-1").intimacy == pytest.approx(0.3)
    assert score("d", 3.0, scale="sigmoid").intimacy == pytest.approx(1 / (1 + math.exp(-3)))
    off = score("e", 0.1)
    assert off.intimacy is None
    assert off.unscored["intimacy"] == "the score is off the model's scale"


@needs_torch
def test_labels_that_share_a_name_share_its_probability(make: Maker) -> None:
    stars = ["1 star", "2 stars", "3 stars", "4 stars", "5 stars"]
    # No star leads but the two lowest: together they beat the highest.
    label = only("sentiment", make("stars", stars, None, [1.0, 1.0, 0.0, 0.0, 1.2]))
    assert label.sentiment == "negative"
    total = 2 * math.e + 2 + math.exp(1.2)
    assert label.sentiment_p == pytest.approx(2 * math.e / total, abs=1e-5)


@needs_torch
def test_a_model_that_gives_no_number_leaves_the_turn_unscored(make: Maker) -> None:
    label = only("sentiment", make("broken", SENTIMENTS, None, [math.nan, 0.0, 0.0]))
    assert (label.sentiment, label.sentiment_p) == (None, None)
    assert label.unscored["sentiment"] == "the model gave no number"


@needs_torch
def test_a_turn_without_text_is_unscored(make: Maker) -> None:
    labeller = HubLabeller({"sentiment": make("feeling", SENTIMENTS)}, device="cpu")
    empty, full = labeller.label(turns(["  \n", "hello"]))
    assert empty.sentiment is None
    assert empty.unscored["sentiment"] == "no text"
    assert empty.unscored["emotion"] == "no hub classifier"
    assert full.sentiment in SENTIMENTS
    assert labeller.label([]) == []


@needs_torch
def test_the_version_names_models_by_content_and_no_folder_of_this_machine(
    make: Maker, tmp_path: Path
) -> None:
    one, other = make("feeling", SENTIMENTS), make("another", SENTIMENTS, None, [0.0, 1.0, 0.0])
    first = HubLabeller({"sentiment": one}, device="cpu").version
    assert first.startswith("sentiment=feeling@")
    assert first.endswith("; fp32")
    assert str(tmp_path) not in first
    second = HubLabeller({"sentiment": other}, device="cpu").version
    assert first.split("@")[1] != second.split("@")[1]
    (Path(one) / "README.md").write_text("words change nothing")
    assert HubLabeller({"sentiment": one}, device="cpu").version == first


@needs_torch
def test_a_model_without_a_trained_head_is_refused(make: Maker) -> None:
    folder = make("body", SENTIMENTS, head=False)
    with refused("no trained classification head"):
        only("sentiment", folder)


@needs_torch
def test_a_classifier_is_no_regressor(make: Maker) -> None:
    with refused("3 outputs where intimacy needs one"):
        HubLabeller({"intimacy": make("feeling", SENTIMENTS)})


@needs_torch
def test_what_cannot_be_loaded_says_how_to_give_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing, empty = str(tmp_path / "nothing"), tmp_path / "empty"
    empty.mkdir()
    with refused(r"no such folder.*`model=sentiment=FOLDER`"):
        HubLabeller({"sentiment": missing})
    with refused(r"could not be loaded.*`model=emotion=FOLDER`"):
        HubLabeller({"emotion": str(empty)})
    # An empty cache and no network: what a machine without the hub sees.
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    with refused(r"hub cannot be reached.*sentiment=FOLDER"):
        HubLabeller({"sentiment": "nobody/no-such-model"}, local_files_only=True)


@needs_torch
def test_a_folder_without_weights_is_refused(make: Maker) -> None:
    folder = Path(make("feeling", SENTIMENTS))
    (folder / "model.safetensors").unlink()
    with refused("no weights"):
        find("sentiment", str(folder), True)


@pytest.mark.parametrize("library", ["torch", "transformers"])
def test_without_the_extra_the_message_is_its_cure(
    library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtraError, match=r"pip install .*\[train\]'"):
        HubLabeller()


@cases("""
    measure   | given                                 | expected
    sentiment | ["LABEL_0", "LABEL_1", "LABEL_2"]     | ["negative", "neutral", "positive"]
    sentiment | ["Positive", "NEGATIVE", " neutral "] | ["positive", "negative", "neutral"]
    sentiment | ["NEG", "NEU", "POS"]                 | ["negative", "neutral", "positive"]
    sentiment | ["NEGATIVE", "POSITIVE"]              | ["negative", "positive"]
    sentiment | ["very_negative", "pos"]              | ["negative", "positive"]
    emotion   | ["Happy", "sad", "anger"]             | ["joy", "sadness", "anger"]
""")
def test_label_names_are_found(measure: str, given: list[str], expected: list[str]) -> None:
    assert outputs(measure, dict(enumerate(given)), "some/model") == tuple(expected)


def test_numbered_labels_are_the_papers_in_order() -> None:
    given = {number: f"LABEL_{number}" for number in range(11)}
    assert outputs("emotion", given, "some/model") == EMOTIONS


@cases("""
    measure   | given                             | told
    sentiment | ["LABEL_0", "LABEL_1"]            | LABEL_0, LABEL_1 of its 2
    sentiment | ["LABEL_2", "LABEL_1", "LABEL_0"] | LABEL_2, LABEL_1, LABEL_0
    emotion   | ["joy", "boredom"]                | boredom of its 2 .joy, boredom.
    emotion   | ["joy", "happy"]                  | only answer joy, happy
""")
def test_labels_without_a_name_here_are_listed(measure: str, given: list[str], told: str) -> None:
    with refused(told):
        outputs(measure, dict(enumerate(given)), "some/model")


def test_text_is_brought_to_the_form_of_tweets() -> None:
    assert tweet("@mara_k look\nhttps://a.example/x?y now") == "@user look http now"
    assert tweet("mail me at a@b.example @ nine") == "mail me at a@b.example @ nine"


def test_models_are_chosen_by_measure() -> None:
    assert parse_models([]) == DEFAULTS
    chosen = parse_models(["sentiment=my/model@v2", "emotion=none"])
    assert chosen == {"sentiment": "my/model@v2", "intimacy": DEFAULTS["intimacy"]}
    with refused("unknown-hub"):
        parse_models(["sentimnt=my/model"])
    with refused("names no model"):
        parse_models(["emotion"])
