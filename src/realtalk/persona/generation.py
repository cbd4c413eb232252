"""Prompts as token ids → replies, many at once, greedy or sampled, by transformers' `generate`.

    prompts = [EncodedPrompt("Chat_2#14", (1, 4093, …))]
    generate(load("smollm2"), prompts, stops, Sampling(max_new_tokens=128))
    → [GeneratedReply("Chat_2#14", (2045, 11, …), ended=True)]

Prompts of similar length share a batch, padded on the left; a batch that does not fit into memory
is halved. A sampled reply depends on the seed and the prompt's id, not on what else is in the
batch (but for rounding: in bf16 a batch of another size may choose another token where two are
nearly as likely). docs/decisions.md has how fast this is beside a loop of our own.

Chat messages and replies → token ids.

    writer = Writer(tokenizer)
    writer.prompt([{"role": "user", "content": "You are Mara …"}])       → (1, 4093, 198, …)
    writer.example("Chat_1#14", messages, "lol no")
    → TrainingExample("Chat_1#14", (1, …), (2045, …, 2))

A prompt is written by the tokenizer's chat template where it has one, else as plain text that
ends in "Reply:". A reply ends with the template's end of turn. TurnPrompt and reply are tokenized
apart, so that a reply begins at the same token in training as in generation.

A folder with a causal language model, or a model's name → the model, ready to train or to write.

    found = load("my-model")                  # any Hugging Face folder with safetensors
    found = load("smollm2")                   # from the GGUF of `realtalk models get smollm2`
    found.title, found.sha256, found.device   → ("my-model", "9f2c…", "cpu")

bf16 on a GPU, fp32 on a CPU. A GGUF is converted once into the cache, as bf16 safetensors.
Needs the extra `train`. Weights that would have to be unpickled are refused.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass, replace
from functools import partial
from io import StringIO
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

from realtalk.encoders import train_extra
from realtalk.encoders.train_extra import batches
from realtalk.errors import RealtalkError
from realtalk.files.offline import no_hub
from realtalk.files.offline import quiet as quietly
from realtalk.files.progress import Progress, silent
from realtalk.files.writing import whole_folder

_GGUF = ".gguf"


@dataclass(frozen=True)
class PretrainedModel:
    """A loaded model. `sha256` is of its weights; `window` is how many tokens fit."""

    model: Any
    tokenizer: Any
    title: str
    sha256: str
    device: str
    precision: str
    window: int


library = partial(train_extra.library, what="training and running models in this process")


def settle(device: str = "auto") -> tuple[str, str]:
    """The device and its precision: bf16 on a GPU that has it, else fp32."""
    torch = library("torch")
    if device not in ("auto", "cpu", "cuda"):
        raise RealtalkError(f"unknown device '{device}'", fix="known: auto, cpu, cuda")
    where = train_extra.present_device(torch, device)
    return where, "bf16" if where == "cuda" and torch.cuda.is_bf16_supported() else "fp32"


def find(name: str | Path, cache: Path | None = None, progress: Progress = silent) -> Path:
    """The folder of a model: one that is given, or that of a name that `models get` knows."""
    path = Path(name).expanduser()
    if path.is_dir():
        return path
    from realtalk.models.files import MODELS, path_of

    if path.is_file() and path.suffix == _GGUF:
        gguf = path
    elif str(name) in MODELS:
        gguf = path_of(str(name), cache)
    else:
        raise RealtalkError(
            "no such model",
            where=str(name),
            fix=f"give a Hugging Face folder, a .gguf file, or one of: {', '.join(MODELS)}",
        )
    folder = gguf.with_name(f"{gguf.stem}-bf16")
    if not folder.is_dir():
        progress(0, 0, f"converting {gguf.name}, once")
        convert_gguf(gguf, folder)
    return folder


def convert_gguf(gguf: Path, folder: Path) -> None:
    """A GGUF as a Hugging Face folder: bf16 safetensors, tokenizer and chat template."""
    torch, transformers = library("torch"), library("transformers")
    library("gguf")
    where = {"gguf_file": gguf.name, "local_files_only": True}
    # The conversion's bar is not one that transformers can switch off.
    with quiet(), no_hub(), redirect_stderr(StringIO()):
        tokenizer = transformers.AutoTokenizer.from_pretrained(str(gguf.parent), **where)
        loaded = transformers.AutoModelForCausalLM.from_pretrained(
            str(gguf.parent), dtype=torch.bfloat16, **where
        )
        settings = loaded.config.to_dict()
        settings.pop("quantization_config", None)  # with it, saving is refused
        config = type(loaded.config).from_dict(settings)
        with torch.device("meta"):  # no weights of its own, which would be made up first
            plain = type(loaded)(config)
        plain.load_state_dict(loaded.state_dict(), assign=True)
        plain.tie_weights()
        with whole_folder(folder) as temporary:
            plain.save_pretrained(temporary)
            tokenizer.save_pretrained(temporary)


def load(
    name: str | Path,
    *,
    device: str = "auto",
    cache: Path | None = None,
    progress: Progress = silent,
) -> PretrainedModel:
    """The model and tokenizer of a folder or name, on the device, not training."""
    torch, transformers = library("torch"), library("transformers")
    where, precision = settle(device)
    folder = find(name, cache, progress)
    if not any(folder.glob("*.safetensors")):
        raise RealtalkError(
            "no weights as safetensors",
            where=str(folder),
            fix="save the model with save_pretrained of a current transformers",
        )
    progress(0, 0, f"loading {folder.name}")
    options = {"local_files_only": True, "trust_remote_code": False}
    try:
        with quiet(), no_hub():
            tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder), **options)
            model = transformers.AutoModelForCausalLM.from_pretrained(
                str(folder),
                dtype=torch.bfloat16 if precision == "bf16" else torch.float32,
                use_safetensors=True,
                **options,
            )
    except (OSError, ValueError, KeyError) as error:
        raise RealtalkError(
            f"no causal language model could be loaded ({type(error).__name__})",
            where=str(folder),
            fix="give a Hugging Face folder with config.json, tokenizer.json and safetensors",
        ) from error
    # How to write is said by `Sampling`, never by what a folder recommends.
    model.generation_config = transformers.GenerationConfig()
    title = folder.resolve().name
    window = _window(model.config)
    model = model.to(where).eval()
    return PretrainedModel(model, tokenizer, title, folder_hash(folder), where, precision, window)


def _window(config: Any) -> int:
    for name in ("max_position_embeddings", "n_positions", "n_ctx"):
        if isinstance(size := getattr(config, name, None), int) and size > 0:
            return size
    return 1 << 20  # no stated limit


def folder_hash(folder: Path) -> str:
    """What a model is: a hash over its weights. Other files change with who saves them."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.safetensors")):
        with path.open("rb") as stream:
            inner = hashlib.file_digest(stream, "sha256").hexdigest()
        digest.update(f"{path.name} {inner}\n".encode())
    return digest.hexdigest()


def with_adapter(base: PretrainedModel, folder: Path) -> PretrainedModel:
    """The model with the adapter's weights added to its own, which writes as fast as before."""
    peft = library("peft")
    with quiet(), no_hub():
        wrapped = peft.PeftModel.from_pretrained(base.model, str(folder))
        merged = wrapped.merge_and_unload()
    return replace(base, model=merged.eval())


@contextmanager
def quiet() -> Iterator[None]:
    """The libraries without their bars and warnings, which are not meant for our user."""
    with quietly(library("transformers")), warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # peft asks transformers by an old name
        yield


Message = dict[str, str]


@dataclass(frozen=True, slots=True)
class TrainingExample:
    """A prompt and the reply to be learned, as token ids; the loss is on the reply only."""

    id: str
    prompt: tuple[int, ...]
    reply: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.prompt) + len(self.reply)


class Writer:
    """Messages and replies as a tokenizer writes them."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self.way = "chat" if getattr(tokenizer, "chat_template", None) else "plain"
        self.end = self._end()

    def prompt(self, messages: Sequence[Message]) -> tuple[int, ...]:
        """Everything up to where the reply begins."""
        if self.way == "chat":
            return self._ids(self._render(messages), special=False)
        return self._ids("\n\n".join([*(m["content"] for m in messages), "Reply:"]), special=True)

    def example(self, id_: str, messages: Sequence[Message], reply: str) -> TrainingExample:
        return TrainingExample(id_, self.prompt(messages), self.reply(reply))

    def reply(self, text: str) -> tuple[int, ...]:
        """The reply and its end of turn."""
        lead = "" if self.way == "chat" else " "
        return (*self._ids(lead + text.strip(), special=False), *self.end)

    def text(self, ids: Sequence[int]) -> str:
        """Generated ids as text, without the marks."""
        return str(self._tokenizer.decode(list(ids), skip_special_tokens=True)).strip()

    @property
    def stops(self) -> frozenset[int]:
        """The tokens that end a turn."""
        return frozenset({self.end[-1], self._tokenizer.eos_token_id} - {None})

    def _render(self, messages: Sequence[Message], *, ask: bool = True) -> str:
        render = self._tokenizer.apply_chat_template
        return str(render(list(messages), tokenize=False, add_generation_prompt=ask))

    def _ids(self, text: str, *, special: bool) -> tuple[int, ...]:
        # A chat template writes the first mark itself; plain text gets it from the tokenizer.
        return tuple(self._tokenizer(text, add_special_tokens=special)["input_ids"])

    def _end(self) -> tuple[int, ...]:
        """What the chat template puts after a reply, up to its first mark."""
        if self.way == "chat":
            question: list[Message] = [{"role": "user", "content": "x"}]
            whole = self._render([*question, {"role": "assistant", "content": "reply"}], ask=False)
            after = self._ids(whole.rpartition("reply")[2], special=False)
            # A tokenizer made from a GGUF names only one mark as special; the others are added.
            added = self._tokenizer.added_tokens_decoder.items()
            marks = {*self._tokenizer.all_special_ids, *(id_ for id_, it in added if it.special)}
            for place, token in enumerate(after):
                if token in marks:
                    return after[: place + 1]
        if self._tokenizer.eos_token_id is None:
            raise RealtalkError(
                "the tokenizer has no end of text", fix="set its eos_token and save it again"
            )
        return (self._tokenizer.eos_token_id,)


_BATCH_TOKENS = {"cuda": 524_288, "cpu": 8_192}  # on a GPU a step costs the same for many rows


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the next token is chosen; temperature 0 takes the likeliest.

    `repetition_penalty` above 1 makes the tokens that a reply has used already less likely, which
    small models need lest they go round in circles; tokens of the prompt are not touched.
    """

    max_new_tokens: int = 128
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0
    repetition_penalty: float = 1.0

    def __post_init__(self) -> None:
        for name, holds, what in (
            ("max_new_tokens", self.max_new_tokens >= 1, "1 or more"),
            ("temperature", self.temperature >= 0, "0 or more"),
            ("top_p", 0 < self.top_p <= 1, "above 0 and at most 1"),
            ("repetition_penalty", 1 <= self.repetition_penalty <= 10, "from 1 to 10"),
        ):
            if not holds:
                raise RealtalkError(f"{name} must be {what}, not {getattr(self, name)}")


class EncodedPrompt(NamedTuple):
    """A prompt as token ids."""

    id: str
    ids: tuple[int, ...]


class GeneratedReply(NamedTuple):
    """The reply's token ids without the end of turn; `ended` is False where it was cut off."""

    id: str
    ids: tuple[int, ...]
    ended: bool


def generate(
    base: PretrainedModel,
    prompts: Sequence[EncodedPrompt],
    stops: Collection[int],
    sampling: Sampling,
    *,
    batch_tokens: int = 0,
    progress: Progress = silent,
    show: Callable[[Sequence[int]], Any] | None = None,
) -> list[GeneratedReply]:
    """One reply per prompt, in order. `batch_tokens` 0 is what suits the device.

    `show` is handed the ids of a single reply so far, after every token.
    """
    room = base.window - sampling.max_new_tokens
    for prompt in prompts:
        if not 0 < len(prompt.ids) <= room:
            raise RealtalkError(
                f"a prompt of {len(prompt.ids):,} tokens, where 1 to {room:,} fit", where=prompt.id
            )
    longest = [len(prompt.ids) + sampling.max_new_tokens for prompt in prompts]
    most = batch_tokens or _BATCH_TOKENS[base.device]
    waiting = [*batches(longest, most, texts=len(prompts))][::-1]
    replies: dict[int, GeneratedReply] = {}
    while waiting:
        places = waiting.pop()
        batch = [prompts[place] for place in places]
        try:
            batch_replies = _batch(base, batch, frozenset(stops), sampling, show)
        except library("torch").OutOfMemoryError as error:
            if len(places) == 1:
                raise RealtalkError(
                    f"a prompt of {len(batch[0].ids):,} tokens does not fit into the device's "
                    "memory",
                    where=batch[0].id,
                    fix="write with a smaller model or shorter contexts",
                ) from error
            middle = len(places) // 2
            waiting += [places[middle:], places[:middle]]
            continue
        replies |= dict(zip(places, batch_replies, strict=True))
        progress(len(replies), len(prompts), "writing")
    return [replies[place] for place in range(len(prompts))]


def _batch(
    base: PretrainedModel,
    batch: Sequence[EncodedPrompt],
    stops: frozenset[int],
    sampling: Sampling,
    show: Callable[[Sequence[int]], Any] | None = None,
) -> list[GeneratedReply]:
    torch, transformers = library("torch"), library("transformers")
    width = max(len(prompt.ids) for prompt in batch)
    ids = torch.tensor([[0] * (width - len(prompt.ids)) + list(prompt.ids) for prompt in batch])
    mask = torch.tensor(
        [[width - len(prompt.ids) <= at for at in range(width)] for prompt in batch]
    )
    settings = transformers.GenerationConfig(
        max_new_tokens=sampling.max_new_tokens,
        do_sample=False,  # chance is drawn by `_processors`
        eos_token_id=sorted(stops) or None,
        pad_token_id=0,
        disable_compile=True,  # takes longer than writing does
    )
    cache = None
    if base.device == "cuda" and base.model._can_compile_fullgraph:
        # With room for all steps: one that grows asks the device for memory at each of them.
        room = width + sampling.max_new_tokens
        cache = transformers.StaticCache(base.model.config, max_cache_len=room)
    with quiet():
        output = base.model.eval().generate(
            input_ids=ids.to(base.model.device),
            attention_mask=mask.long().to(base.model.device),
            generation_config=settings,
            past_key_values=cache,
            logits_processor=_processors(batch, width, sampling, base.model.device),
            streamer=None if show is None else _Streamer(show, stops),
        )
    rows = output[:, width:].tolist()
    replies = []
    for prompt, tokens in zip(batch, rows, strict=True):
        new = tuple(takewhile(lambda token: token not in stops, tokens))
        replies.append(GeneratedReply(prompt.id, new, ended=len(new) < len(tokens)))
    return replies


class _Streamer:
    """What `generate` hands its tokens to: the prompt's first, then one at a time."""

    def __init__(self, show: Callable[[Sequence[int]], Any], stops: frozenset[int]) -> None:
        self._show, self._stops = show, stops
        self._ids: list[int] | None = None

    def put(self, tokens: Any) -> None:
        if self._ids is None:
            self._ids = []
            return
        self._ids += [token for token in tokens.tolist() if token not in self._stops]
        self._show(self._ids)

    def end(self) -> None:
        """Nothing is left to show."""


def _processors(batch: Sequence[EncodedPrompt], width: int, sampling: Sampling, device: Any) -> Any:
    """What makes of a step's logits those whose highest is the token to write."""
    process = library("transformers.generation.logits_process")
    processors = process.LogitsProcessorList()
    if sampling.repetition_penalty != 1:
        processors.append(
            process.RepetitionPenaltyLogitsProcessor(sampling.repetition_penalty, width)
        )
    if sampling.temperature == 0:
        return processors
    processors.append(process.TemperatureLogitsWarper(sampling.temperature))
    if sampling.top_p < 1:
        processors.append(process.TopPLogitsWarper(sampling.top_p))
    chances = _chances(batch, sampling).to(device)
    processors.append(lambda ids, scores: draw_tokens(scores, chances[:, ids.shape[1] - width]))
    return processors


def _chances(batch: Sequence[EncodedPrompt], sampling: Sampling) -> Any:
    """A number from 0 to 1 for every token to come, from the seed and the prompt's id alone."""
    torch = library("torch")
    rows = []
    for prompt in batch:
        name = hashlib.sha256(f"{sampling.seed} {prompt.id}".encode()).digest()
        generator = torch.Generator().manual_seed(int.from_bytes(name[:8]) >> 1)
        rows.append(torch.rand(sampling.max_new_tokens, generator=generator))
    return torch.stack(rows)


def draw_tokens(scores: Any, chances: Any) -> Any:
    """Scores that leave each row one token: that on whose share of the whole its chance falls."""
    torch = library("torch")
    shares, order = torch.softmax(scores.float(), dim=-1).sort(dim=-1, descending=True, stable=True)
    upto = shares.cumsum(-1)
    place = (upto < chances[:, None] * upto[:, -1:]).sum(-1, keepdim=True)
    place = torch.minimum(place, (shares > 0).sum(-1, keepdim=True) - 1)
    left_out = torch.full_like(scores, -torch.inf)
    return left_out.scatter(-1, order.gather(-1, place), 0.0)
