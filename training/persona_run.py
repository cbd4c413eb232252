"""The real run of persona simulation: prompts and a model → what it writes, tuned and untuned.

    python training/persona_run.py --prompts training/build/persona/prompts.jsonl.xz \\
        --base SmolLM2-135M-Instruct.Q4_1.gguf --out training/build/persona/run --pack rows.tgz
    → run/rows/k3-tuned-greedy.jsonl, k3-local-greedy.jsonl, k3-styled-greedy.jsonl, …
      run/report.json    seconds, losses, tokens per second

Needs torch, transformers and peft (and gguf for a GGUF), and of this package only `src` on the
path: none of its other libraries. Every speaker is trained on their one chat and writes in the
other, greedily and sampled; what is there already is not made again, so that a run that was
stopped goes on. Several processes may share the work by `--speakers` in one folder; a last call
without it joins what they made. With several `--penalties` each way of writing is made with each
of them, and `--held` also writes the turns of the first chat that no adapter learned from: by
those the ways are chosen (persona_choose.py). Each file of rows is scored on any machine with:

    realtalk persona run CORPUS --simulator written --set rows=FILE --out DIR
"""

from __future__ import annotations

import argparse
import json
import lzma
import shutil
import sys
import tarfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from realtalk.persona.chat_tokens import TrainingExample, Writer
from realtalk.persona.generation import EncodedPrompt, Sampling, generate
from realtalk.persona.pretrained import Pretrained, convert_gguf, load, with_adapter
from realtalk.persona.tuning import Tuned, TuneSettings, held_out, tune

Row = dict[str, Any]
WAYS = ("tuned", "local", "styled")
SETS_FIRST = "k"  # the sets of all speakers; a sweep comes after them
SAMPLED = ("sampled", "pure")
HELD = "held"  # after a set's name: its held-out turns of the chat that is learned from


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--prompts", type=Path, required=True)
    parser.add_argument("--base", type=Path, required=True, help="a model's folder, or a .gguf")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--pack", type=Path, help="also everything but the adapters, as a .tgz")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--learning-rate", default="5e-4", help="of several (2e-4,5e-4), the best")
    parser.add_argument("--patience", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--max-tokens", type=int, default=160)
    parser.add_argument("--temperature", type=float, default=0.8)
    parser.add_argument("--top-p", type=float, default=0.95)
    parser.add_argument("--penalties", default="1", help="on repetition; of several, each")
    parser.add_argument("--held", action="store_true", help="also write the held-out turns")
    parser.add_argument("--train-tokens", type=int, default=0, help="at once; 0 suits the device")
    parser.add_argument("--write-tokens", type=int, default=0)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--sets", help="only these sets of the prompts (k3,sweep1)")
    parser.add_argument("--only", help="only these ways (tuned,local,styled)")
    parser.add_argument("--speakers", help="only these speakers, to share work between processes")
    parser.add_argument("--samplings", default="greedy,sampled", help="also: pure")
    parser.add_argument("--limit", type=int, help="turns per speaker and part, to try it out")
    Run(parser.parse_args()).all()


class Run:
    """Everything that is to be made, in order of how much it is wanted."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.given = given
        self.out: Path = given.out
        self.began = time.perf_counter()
        (self.out / "rows").mkdir(parents=True, exist_ok=True)
        self.base = given.base
        if self.base.suffix == ".gguf":
            self.base = self.out / "base"
            if not self.base.is_dir():
                convert_gguf(given.base, self.base)
        with lzma.open(given.prompts, "rt", encoding="utf-8") as stream:
            self.head = json.loads(next(stream))
            self.rows: list[Row] = [json.loads(line) for line in stream]
        self.rates = [float(rate) for rate in given.learning_rate.split(",")]
        self.tuning = TuneSettings(
            learning_rate=self.rates[0],
            epochs=given.epochs,
            patience=given.patience,
            seed=given.seed,
            batch_tokens=given.train_tokens,
        )
        self.samplings: dict[str, Sampling] = {}
        sampled = Sampling(given.max_tokens, given.temperature, given.top_p, given.seed)
        ways = {
            "greedy": Sampling(given.max_tokens),
            "sampled": sampled,
            "pure": replace(sampled, temperature=1.0, top_p=1.0),  # as the model believes
        }
        for penalty in map(float, given.penalties.split(",")):
            ending = "" if penalty == 1 else f"{penalty:g}"
            self.samplings |= {
                f"{way}{ending}": replace(sampling, repetition_penalty=penalty)
                for way, sampling in ways.items()
                if self.wanted(given.samplings, way)
            }
        # Processes that share the work have a report each; one that has it all joins them.
        part = "" if given.speakers is None else "-" + given.speakers.replace(",", "-")
        self.told = self.out / f"report{part}.json"
        self.report: dict[str, Any] = {"trained": {}, "written": {}}
        joined = sorted(self.out.glob("report*.json")) if given.speakers is None else [self.told]
        for path in joined:
            if path.is_file():
                for name, known in json.loads(path.read_text("utf-8")).items():
                    self.report.setdefault(name, {}).update(known)

    def all(self) -> None:
        names = sorted(self.head["sets"], key=lambda name: (not name.startswith(SETS_FIRST), name))
        names = [name for name in names if self.wanted(self.given.sets, name)]
        ways = [way for way in WAYS if self.wanted(self.given.only, way)]
        if len(self.rates) > 1:
            self.choose_rate(names[0])
        for name in names:
            for speaker in self.speakers(name) if "tuned" in ways else ():
                self.tuned(name, speaker)
            plain = self.loaded()
            if "local" in ways:
                self.untuned(name, plain, "local", "text")
            if "styled" in ways:
                self.untuned(name, plain, "styled", "styled")
        self.collect()
        self.save_report()
        if self.given.pack is not None:
            with tarfile.open(self.given.pack, "w:gz") as archive:
                archive.add(self.told, "report.json")
                for path in sorted((self.out / "rows").glob("*.jsonl")):
                    archive.add(path, f"rows/{path.name}")
        self.say(f"done: {self.out}")

    @staticmethod
    def wanted(names: str | None, name: str) -> bool:
        return names is None or name in names.split(",")

    def speakers(self, name: str) -> list[str]:
        """Of a set, those this process is to make."""
        known = self.head["sets"][name]["chats"]
        return [speaker for speaker in known if self.wanted(self.given.speakers, speaker)]

    def loaded(self) -> Pretrained:
        return load(self.base, device=self.given.device)

    def of(self, name: str, part: str, speaker: str | None = None) -> list[Row]:
        found = [
            row
            for row in self.rows
            if row["set"] == name
            and row["part"] == part
            and (speaker is None or row["speaker"] == speaker)
        ]
        return found[: self.given.limit]

    def tuned(self, name: str, speaker: str) -> None:
        titles = [f"{name}-tuned-{way}" for way in self.samplings]
        if self.given.held:
            titles += [f"{name}{HELD}-tuned-{way}" for way in self.samplings]
        waiting = [title for title in titles if not self.part(title, speaker).is_file()]
        if not waiting:
            return
        made = self.trained(name, speaker)
        folder = made.folder
        last = made.epochs[made.kept - 1]
        self.say(
            f"{name} {speaker}: held out {made.untuned} → {last.held_out}, epoch {made.kept} of "
            f"{len(made.epochs)}, {made.tokens_per_second:,.0f} tokens/s"
        )
        merged = with_adapter(self.loaded(), folder)
        tested, held = self.of(name, "test", speaker), self.held(name, speaker, merged)
        for title in waiting:
            which, _, way = title.split("-")
            rows = held if which.endswith(HELD) else tested
            self.write(merged, title, rows, "text", self.samplings[way])

    def held(self, name: str, speaker: str, base: Pretrained) -> list[Row]:
        """The turns of the chat that is learned from which training has held out."""
        learned = self.of(name, "learn", speaker)
        kept = {each.id for each in held_out(self.fitting(learned, base), self.tuning.held_out)[1]}
        return [row for row in learned if row["id"] in kept]

    @staticmethod
    def fitting(learned: Sequence[Row], base: Pretrained) -> list[TrainingExample]:
        writer = Writer(base.tokenizer)
        made = (writer.example(row["id"], [user(row["text"])], row["reply"]) for row in learned)
        return [example for example in made if len(example) <= base.window]

    def choose_rate(self, name: str) -> None:
        """Of several learning rates the one whose adapters predict the held-out turns best.

        Those are turns of the chats that are learned from: the tested chats have no say.
        """
        losses: dict[float, float] = {}
        for rate in self.rates:
            self.tuning = replace(self.tuning, learning_rate=rate)
            made = [self.trained(name, speaker, trial=True) for speaker in self.speakers(name)]
            kept = [each.epochs[each.kept - 1].held_out for each in made]
            losses[rate] = sum(loss for loss in kept if loss is not None) / len(kept)
            self.say(f"learning rate {rate}: held out {losses[rate]:.4f}")
        best = min(losses, key=lambda rate: losses[rate])
        self.tuning = replace(self.tuning, learning_rate=best)
        self.report["rates"] = {"held_out": losses, "chosen": best}

    def trained(self, name: str, speaker: str, *, trial: bool = False) -> Tuned:
        """A speaker's adapter; a trial's is kept apart, and copied if its rate is chosen."""
        base = self.loaded()
        turns = self.of(name, "learn", speaker)
        fitting = self.fitting(turns, base)
        learned, tested = self.head["sets"][name]["chats"][speaker]
        about = {
            **{"speaker": speaker, "chat": learned, "base": str(self.given.base)},
            **{"prompt_version": self.head["prompt_version"]},
            **self.head["sets"][name]["context"],
        }
        folder = self.out / "adapters" / name / speaker
        tried = self.out / "trials" / f"rate-{self.tuning.learning_rate}" / name / speaker
        if trial:
            folder = tried
        elif tried.is_dir() and not folder.is_dir():
            shutil.copytree(tried, folder)
        made = tune(base, fitting, folder, self.tuning, about=about)
        if not trial:
            self.report["trained"][f"{name} {speaker}"] = {
                **{key: value for key, value in asdict(made).items() if key != "folder"},
                **{"turns": len(fitting), "left_out": len(turns) - len(fitting)},
                **{"tokens_per_second": round(made.tokens_per_second)},
                **{"tested": tested, "base_sha256": base.sha256, "precision": base.precision},
            }
        return made

    def untuned(self, name: str, base: Pretrained, how: str, field: str) -> None:
        speakers = self.speakers(name)
        rows = {name: [row for each in speakers for row in self.of(name, "test", each)]}
        if self.given.held:
            rows[name + HELD] = [row for each in speakers for row in self.held(name, each, base)]
        for which, turns in rows.items():
            for way, sampling in self.samplings.items():
                title = f"{which}-{how}-{way}"
                waiting = [
                    row
                    for row in turns
                    if field in row and not self.part(title, row["speaker"]).is_file()
                ]
                if waiting:
                    self.write(base, title, waiting, field, sampling)

    def write(
        self, base: Pretrained, title: str, rows: Sequence[Row], field: str, sampling: Sampling
    ) -> None:
        """Writes every row's reply; a file for each speaker, joined at the end."""
        writer = Writer(base.tokenizer)
        room = base.window - sampling.max_new_tokens
        asked = [EncodedPrompt(row["id"], writer.prompt([user(row[field])])) for row in rows]
        fitting = [each for each in asked if len(each.ids) <= room]
        began = time.perf_counter()
        found = {
            each.id: each
            for each in generate(
                *(base, fitting, writer.stops, sampling), batch_tokens=self.given.write_tokens
            )
        }
        seconds = time.perf_counter() - began
        lengths = {each.id: len(each.ids) for each in asked}
        by_speaker: dict[str, list[Row]] = {}
        for row in rows:
            if (each := found.get(row["id"])) is not None:
                by_speaker.setdefault(row["speaker"], []).append(
                    {
                        **{"speaker": row["speaker"], "id": row["id"]},
                        **{"text": writer.text(each.ids), "ended": each.ended},
                        **{"tokens_in": lengths[row["id"]], "tokens_out": len(each.ids)},
                    }
                )
        for speaker, made in by_speaker.items():
            save_lines(self.part(title, speaker), made)
        new = sum(len(each.ids) for each in found.values())
        whose = rows[0]["speaker"] if len(by_speaker) == 1 else self.given.speakers
        key = f"{title} {whose}" if whose else title
        self.report["written"][key] = {
            **{"turns": len(found), "left_out": len(asked) - len(fitting)},
            **{"tokens_in": sum(len(e.ids) for e in fitting), "tokens_out": new},
            **{"seconds": round(seconds, 3), "new_tokens_per_second": round(new / seconds)},
        }
        self.save_report()
        self.say(f"{key}: {len(found)} turns, {new / seconds:,.0f} new tokens/s")

    def save_report(self) -> None:
        self.told.write_text(json.dumps(self.report, indent=1), "utf-8")

    def part(self, title: str, speaker: str) -> Path:
        return self.out / "parts" / title / f"{speaker}.jsonl"

    def collect(self) -> None:
        """The speakers' parts of a way of writing as one file, under a line that says how."""
        for folder in sorted((self.out / "parts").iterdir()):
            name, how, way = folder.name.split("-")
            if way not in self.samplings:
                continue  # of another call
            simulator = {"tuned": "tuned", "local": "local", "styled": "local styled"}[how]
            about = self.head["sets"][name.removesuffix(HELD)]
            there = {path.stem for path in folder.glob("*.jsonl")}  # of other processes, too
            head = {
                "simulator": " ".join([simulator, *(how for how in SAMPLED if how in way)]),
                "prompt_version": self.head["prompt_version"],
                **about,
                "chats": {who: both for who, both in about["chats"].items() if who in there},
                "settings": {
                    **{"base": self.given.base.stem, "device": self.given.device},
                    **asdict(self.samplings[way]),
                    **({} if how != "tuned" else asdict(self.tuning)),
                },
            }
            lines = [head]
            for path in sorted(folder.glob("*.jsonl")):
                lines += [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]
            save_lines(self.out / "rows" / f"{folder.name}.jsonl", lines)

    def say(self, line: str) -> None:
        sys.stdout.write(f"[{time.perf_counter() - self.began:6.1f} s] {line}\n")
        sys.stdout.flush()


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def save_lines(path: Path, rows: Iterable[Row]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".part")
    temporary.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    temporary.replace(path)


if __name__ == "__main__":
    main()
