"""The real run of simulated chats: a model → chats of some days, untuned and tuned, many at once.

    python -m research.experiments.converse_run --base qwen2.5-coder-1.5b-instruct-q4_k_m.gguf \\
        --pace build/converse/pace.json --out build/converse/qwen15 \\
        --prompts build/persona/prompts.jsonl.xz --consent research --pack chats.tgz
    → qwen15/untuned.jsonl, qwen15/tuned.jsonl    corpora that `realtalk read` takes, all marked
      qwen15/report.json                          seconds, turns, tokens per second

Needs torch, transformers and peft (gguf for a GGUF, bm25s for `--memory retrieved`), and of this
package only `src` on the path. Untuned, the model writes as our invented people, in `--chats` chats
at once. Tuned, an adapter is trained for each speaker of the prompts that persona_prepare.py made,
on the chat that they learn from, and these people talk to each other two by two; that is writing
as people who exist. REALTALK's agreed to the study and not to this, which `--consent research` says
and keeps in the chats. All chats that wait for one model get their next turn in one batch; what a
stopped call has written is gone on with.
"""

from __future__ import annotations

import argparse
import copy
import json
import tarfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import date
from pathlib import Path
from typing import Any

from realtalk.chat import Chat, Message, Session
from realtalk.evals.values import Answer
from realtalk.formats.published.record import record
from realtalk.formats.published.record import restore as restore_record
from realtalk.memory.registry import make_memory
from realtalk.memory.remembering import reminder
from realtalk.memory.values import Budget
from realtalk.persona.cast import ChatPace, draw_roles, draw_turns, load_cast
from realtalk.persona.conversation import Side, SimulatedChat, marked_chat
from realtalk.persona.generation import (
    EncodedPrompt,
    PretrainedModel,
    Sampling,
    Writer,
    generate,
    library,
    load,
    with_adapter,
)
from realtalk.persona.prompting import read_message
from realtalk.persona.talking import Consent, obtain_consent
from realtalk.persona.tuned import encode_prompt
from realtalk.persona.tuning import TuneSettings, tune
from realtalk.persona.values import TurnPrompt
from research.experiments.persona_prompts import Prompts
from research.experiments.persona_sharing import base_folder

BEGINS = date(2025, 1, 6)
SAVE_EVERY = 20.0  # seconds
TOO_LONG = "the prompt does not fit into the model"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--base", type=Path, required=True, help="a model's folder, or a .gguf")
    parser.add_argument("--pace", type=Path, required=True, help="what converse_prepare.py made")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--prompts", type=Path, help="of persona_prepare.py, to tune with")
    parser.add_argument("--set", default="k3", help="of the prompts")
    parser.add_argument("--consent", help="by whose leave: self, given, research, fictional")
    parser.add_argument("--only", default="untuned,tuned")
    parser.add_argument("--chats", type=int, default=5)
    parser.add_argument("--days", type=int, default=7)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--max-tokens", type=int, default=160)
    parser.add_argument("--temperature", type=float, default=0.8)
    parser.add_argument("--top-p", type=float, default=0.95)
    parser.add_argument("--length", type=int, default=3072, help="tokens of a prompt and its reply")
    parser.add_argument("--memory", default="retrieved", help="or recent, none")
    parser.add_argument("--budget", type=int, default=300, help="words that are recalled")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--learning-rate", type=float, default=2e-4)
    parser.add_argument("--per-update", type=int, default=8)
    parser.add_argument("--train-tokens", type=int, default=0, help="at once; 0 suits the device")
    parser.add_argument("--limit", type=int, help="turns to learn per speaker, to try it out")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no turn after")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--pack", type=Path, help="also the chats and the report, as a .tgz")
    run = Run(parser.parse_args())
    run.work()
    run.finish()


class Run:
    """One model's chats, way by way."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.given = given
        self.out: Path = given.out
        self.out.mkdir(parents=True, exist_ok=True)
        self.began = time.perf_counter()
        self.base_name = given.base.name.removesuffix(".gguf")  # a stem would end at "0.5b"
        pace = json.loads(given.pace.read_text("utf-8"))
        self.pace = ChatPace(pace.pop("source"), **{name: tuple(pace[name]) for name in pace})
        settings = {"way": "bm25"} if given.memory == "retrieved" else {}
        self.remember = reminder(make_memory(given.memory, settings), Budget(words=given.budget))
        self.base = load(base_folder(given.base, self.out), device=given.device)
        self.report: dict[str, Any] = {
            "base": self.base_name,
            "base_sha256": self.base.sha256,
            "precision": self.base.precision,
            "pace": self.pace.source,
            "settings": {
                name: getattr(given, name)
                for name in ("chats", "days", "seed", "temperature", "top_p", "memory", "budget")
            },
        }

    def work(self) -> None:
        wanted = self.given.only.split(",")
        if "untuned" in wanted:
            cast = load_cast()
            roles = draw_roles(
                cast,
                days=self.given.days,
                begins=BEGINS,
                chats=self.given.chats,
                seed=self.given.seed,
            )
            sides = [tuple(Side(role.persona.name, role) for role in pair) for pair in roles]
            engine = Engine(self.base, self.given)
            self.write("untuned", sides, lambda _: engine)
        if "tuned" in wanted and self.given.prompts is not None:
            self.tuned()

    def tuned(self) -> None:
        """Everybody gets an adapter, then neighbours in the list talk to each other."""
        prompts = Prompts(self.given.prompts, self.given.limit)
        speakers = prompts.speakers(self.given.set)
        engines = {}
        consents: list[Consent] = []
        for speaker in speakers:
            folder = self.out / "adapters" / speaker
            consents.append(obtain_consent(speaker, self.given.consent or "", None))
            self.say(consents[-1].meaning)
            self.train(prompts, speaker, folder)
            model = with_adapter(self.copied(), folder)
            engines[speaker] = Engine(model, self.given)
        self.report["consent"] = [asdict(each) for each in consents]
        pairs = [speakers[at : at + 2] for at in range(0, len(speakers) - 1, 2)]
        chosen = [pairs[number % len(pairs)] for number in range(self.given.chats)]
        sides = [(Side(one), Side(other)) for one, other in chosen]
        self.write("tuned", sides, lambda name: engines[name])

    def train(self, prompts: Prompts, speaker: str, folder: Path) -> None:
        writer = Writer(self.base.tokenizer)
        rows = prompts.rows(self.given.set, "learn", speaker)
        made = (
            writer.example(row["id"], [{"role": "user", "content": row["text"]}], row["reply"])
            for row in rows
        )
        settings = TuneSettings(
            epochs=self.given.epochs,
            learning_rate=self.given.learning_rate,
            per_update=self.given.per_update,
            patience=1,
            seed=self.given.seed,
            batch_tokens=self.given.train_tokens,
            checkpoint_every=200,
        )
        about = {
            **{"speaker": speaker, "base": str(self.given.base)},
            **{"prompt_version": prompts.head["prompt_version"]},
        }
        fitting = [each for each in made if len(each) <= self.base.window]
        told = tune(self.copied(), fitting, folder, settings, about=about)
        last = told.epochs[told.kept - 1]
        self.say(f"{speaker}: {len(fitting)} turns, held out {told.untuned} → {last.held_out}")
        self.report.setdefault("trained", {})[speaker] = {
            **{"turns": len(fitting), "kept": told.kept, "held_out": last.held_out},
            **{"untuned": told.untuned, "seconds": round(told.seconds, 1)},
        }

    def copied(self) -> PretrainedModel:
        return replace(self.base, model=copy.deepcopy(self.base.model))

    def write(self, way: str, sides: Sequence[Any], engine_of: Any) -> None:
        """Lets all chats of a way go on until they are done, or time is up."""
        chats = [self.conversation(way, number, pair) for number, pair in enumerate(sides, 1)]
        path = self.out / f"{way}.json"
        if path.is_file():
            restore(chats, json.loads(path.read_text("utf-8")))
        began, saved, turns = time.perf_counter(), time.perf_counter(), sum(c.at for c in chats)
        engines = {engine_of(side.name): None for each in chats for side in each.sides}
        for each in chats:
            if not each.done:
                engine_of(each.sides[each.side].name).ask(each)
        while any(engine.busy for engine in engines):
            for engine in engines:
                for each, answer in engine.step():
                    each.add(answer)
                    late = time.perf_counter() - self.began > self.given.seconds
                    if not each.done and not late:
                        engine_of(each.sides[each.side].name).ask(each)
            if time.perf_counter() - saved > SAVE_EVERY:
                path.write_text(json.dumps([state(each) for each in chats]), "utf-8")
                saved = time.perf_counter()
                if self.base.model.device.type == "cuda":
                    # Prompts of every length leave room behind that no other length takes: 90 GB.
                    library("torch").cuda.empty_cache()
                done, total = sum(c.at for c in chats), sum(c.total for c in chats)
                self.say(f"{way}: {done} of {total} turns")
        path.write_text(json.dumps([state(each) for each in chats]), "utf-8")
        with (self.out / f"{way}.jsonl").open("w", encoding="utf-8") as stream:
            by = f"{self.base_name} {way}"
            stream.writelines(json.dumps(row) + "\n" for row in lines(chats, by, self.report))
        seconds = time.perf_counter() - began
        new = sum(engine.tokens for engine in engines)
        self.report[way] = {
            "turns": sum(each.at for each in chats) - turns,
            "left": sum(each.total - each.at for each in chats),
            "unanswered": sum(len(each.silent) for each in chats),
            "seconds": round(seconds, 1),
            "new_tokens_per_second": round(new / seconds),
        }
        self.say(f"{way}: {self.report[way]}")

    def conversation(self, way: str, number: int, sides: Any) -> SimulatedChat:
        id_ = f"Chat_simulated_{way}_{number}_{sides[0].name}_{sides[1].name}"
        seed = f"{self.given.seed}/{number}"
        planned = draw_turns(self.pace, days=self.given.days, begins=BEGINS, seed=seed)
        return SimulatedChat(id_, sides, planned, self.remember)

    def finish(self) -> None:
        path = self.out / "report.json"
        path.write_text(json.dumps(self.report, indent=1), "utf-8")
        if self.given.pack is not None:
            with tarfile.open(self.given.pack, "w:gz") as archive:
                for each in (path, *sorted(self.out.glob("*.jsonl"))):
                    archive.add(each, each.name)
        self.say(f"done: {self.out}")

    def say(self, line: str) -> None:
        print(f"[{time.perf_counter() - self.began:6.1f}] {line}", flush=True)


class Engine:
    """A model that writes turns of several chats, those that wait in one batch."""

    def __init__(self, base: PretrainedModel, given: argparse.Namespace) -> None:
        self._base = base
        self._writer = Writer(base.tokenizer)
        self._sampling = Sampling(given.max_tokens, given.temperature, given.top_p, given.seed)
        self._room = min(given.length, base.window) - given.max_tokens
        self._waiting: list[SimulatedChat] = []
        self.tokens = 0

    @property
    def busy(self) -> bool:
        return bool(self._waiting)

    def ask(self, chat: SimulatedChat) -> None:
        self._waiting.append(chat)

    def step(self) -> Iterator[tuple[SimulatedChat, Answer[str]]]:
        """The next turn of every chat that waits."""
        chats, self._waiting = self._waiting, []
        asked: list[tuple[SimulatedChat, TurnPrompt, EncodedPrompt]] = []
        for chat in chats:
            prompt = chat.prompt()
            if ids := encode_prompt(self._writer, prompt, self._room):
                asked.append((chat, prompt, EncodedPrompt(f"{chat.id} {chat.at}", ids)))
            else:
                yield chat, Answer(None, TOO_LONG)
        stops, prompts = self._writer.stops, [each for _, _, each in asked]
        for (chat, prompt, _), written in zip(
            asked, generate(self._base, prompts, stops, self._sampling), strict=True
        ):
            self.tokens += len(written.ids)
            yield chat, read_message(self._writer.text(written.ids), prompt)


def state(each: SimulatedChat) -> dict[str, Any]:
    """What a stopped call needs to go on with a chat."""
    said = [[session.number, list(map(record, session.messages))] for session in each.chat.sessions]
    return {"id": each.id, "at": each.at, "silent": each.silent, "sessions": said}


def restore(chats: Iterable[SimulatedChat], held: Iterable[Mapping[str, Any]]) -> None:
    known = {each["id"]: each for each in held}
    for each in chats:
        if (told := known.get(each.id)) is None:
            continue
        sessions = []
        for number, said in told["sessions"]:
            messages = tuple(restore_record(Message, row, each.id) for row in said)
            sessions.append(Session(number, messages[0].time, messages))
        quiet = {int(turn): reason for turn, reason in told["silent"].items()}
        each.restore(Chat(each.id, (), tuple(sessions)), told["at"], quiet)


def lines(
    chats: Iterable[SimulatedChat], by: str, report: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """The chats as JSON lines of this package, everything in them marked."""
    yield {"type": "corpus", "realtalk": 1, "name": f"{by} simulated", "format": "jsonl"}
    about = {"by": by, **{name: report[name] for name in ("pace", "settings", "base_sha256")}}
    for each in chats:
        chat = marked_chat(each.chat, (by, by), about)
        head = record(replace(chat, sessions=(), events=()))
        del head["sessions"]
        yield {"type": "chat", **head}
        for session in chat.sessions:
            begun = None if session.time is None else session.time.isoformat()
            yield {"type": "session", "chat": chat.id, "number": session.number, "time": begun}
            for said in session.messages:
                place = {"type": "message", "chat": chat.id, "session": session.number}
                yield {**place, **record(said)}
        for event in chat.events:
            yield {"type": "event", "chat": chat.id, **record(event)}


if __name__ == "__main__":
    library("torch").set_float32_matmul_precision("high")
    main()
