"""The real run of persona simulation: prompts and a model → what it writes, tuned and untuned.

    python -m research.experiments.persona_run --prompts build/persona/prompts.jsonl.xz \\
        --base qwen2.5-coder-1.5b-instruct-q4_k_m.gguf --out build/persona/run \\
        --learning-rate 1e-4,2e-4,4e-4 --trials 2 --processes 2 --pack rows.tgz
    → run/rows/k3-tuned+retrieved-greedy.jsonl, k3-local-greedy.jsonl, k3-styled-greedy.jsonl, …
      run/chosen.json    the settings, by held-out turns, before a tested chat is written
      run/report.json    seconds, losses, tokens per second, share of the card's matrix rate

Needs torch, transformers and peft (and gguf for a GGUF), and of this package only `src` on the
path, and orjson. Every speaker is trained on their one chat and writes in the
other, greedily and sampled; what is there already is not made again, so that a run that was
stopped goes on. A job is one speaker in one way, the most wanted way first; `--processes` share
them on one card, `--seconds` begins none after that time, and `--plan` says how long all of it may
take. Processes may also be told their `--speakers`; a last call without it joins what they made.
With several `--penalties` each way of writing is made with each of them, and `--held` also writes
the turns of the first chat that no adapter learned from: by those the ways are chosen
(persona_choose.py). Each file of rows is scored on any machine with:

    realtalk persona run CORPUS --simulator written --set rows=FILE --out DIR
"""

from __future__ import annotations

import argparse
import json
import sys
import tarfile
import time
from collections.abc import Iterable
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from realtalk.errors import RealtalkError
from realtalk.persona.generation import Sampling, load
from realtalk.persona.tuning import TuneSettings
from research.experiments.persona_jobs import Jobs
from research.experiments.persona_plan import plan_lines, rate_lines
from research.experiments.persona_prompts import WAYS, Prompts, Row, Way
from research.experiments.persona_sharing import Claims, base_folder, spread

SAMPLED = ("sampled", "pure")
HELD = "held"  # after a set's name: its held-out turns of the chat that is learned from
OWN = ("--processes", "--pack")  # options of the process that begins the others


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--prompts", type=Path, required=True)
    parser.add_argument("--base", type=Path, required=True, help="a model's folder, or a .gguf")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--pack", type=Path, help="also everything but the adapters, as a .tgz")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--least-updates", type=int, default=0, help="of few turns, more epochs")
    parser.add_argument("--per-update", type=int, default=16)
    parser.add_argument("--learning-rate", default="5e-4", help="of several (2e-4,5e-4), the best")
    parser.add_argument("--trials", type=int, help="speakers to try rates on, the shortest chats")
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
    parser.add_argument("--only", help=f"only these ways ({','.join(WAYS)})")
    parser.add_argument("--speakers", help="only these speakers, to share work between processes")
    parser.add_argument("--processes", type=int, default=1, help="that share the work on this card")
    parser.add_argument("--worker", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin nothing after")
    parser.add_argument("--samplings", default="greedy,sampled", help="also: pure")
    parser.add_argument("--limit", type=int, help="turns per speaker and part, to try it out")
    parser.add_argument("--plan", action="store_true", help="only say what all of it takes")
    given = parser.parse_args()
    run = Run(given)
    if given.plan:
        base = load(run.base_folder(), device="cpu")
        lines = plan_lines(base, run.prompts, run.sets(), run.ways(), given)
        sys.stdout.write("\n".join(lines) + "\n")
        return
    failed = 0
    if given.processes > 1:
        run.base_folder()  # converted once, before the others want it
        failed = spread(
            "research.experiments.persona_run", passed_on(sys.argv[1:]), processes=given.processes
        )
    else:
        run.work()
    if given.worker is None:
        run.join()
    if failed:
        sys.exit(f"{failed} of {given.processes} processes failed: start it again, it goes on")


def passed_on(words: list[str]) -> list[str]:
    """The options without those of the first process."""
    kept: list[str] = []
    for at, word in enumerate(words):
        if word not in OWN and (at == 0 or words[at - 1] not in OWN):
            kept.append(word)
    return kept


class Run:
    """Everything that is to be made, in order of how much it is wanted."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.given = given
        self.out: Path = given.out
        self.began = time.perf_counter()
        (self.out / "rows").mkdir(parents=True, exist_ok=True)
        self.prompts = Prompts(given.prompts, given.limit)
        self.rates = [float(rate) for rate in given.learning_rate.split(",")]
        self.tuning = TuneSettings(
            learning_rate=self.rates[0],
            epochs=given.epochs,
            per_update=given.per_update,
            patience=given.patience,
            seed=given.seed,
            batch_tokens=given.train_tokens,
            checkpoint_every=200,
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
                if wanted(given.samplings, way)
            }
        # Processes that share the work have a report each; one that has it all joins them.
        part = "" if given.speakers is None else "-" + given.speakers.replace(",", "-")
        part += "" if given.worker is None else f"-worker{given.worker}"
        self.told = self.out / f"report{part}.json"
        self.report: dict[str, Any] = {"trained": {}, "written": {}}
        self.read_reports([self.told])
        self.jobs_done = 0
        self.read_choice()

    def read_choice(self) -> bool:
        """The rate that was chosen, by this process or another one."""
        path = self.out / "chosen.json"
        if len(self.rates) > 1 and path.is_file():
            told = json.loads(path.read_text("utf-8"))
            self.tuning = replace(self.tuning, learning_rate=told["chosen"])
            return True
        return False

    def read_reports(self, paths: Iterable[Path]) -> None:
        for path in paths:
            if path.is_file():
                for name, known in json.loads(path.read_text("utf-8")).items():
                    if isinstance(known, dict):
                        self.report.setdefault(name, {}).update(known)

    def base_folder(self) -> Path:
        return base_folder(self.given.base, self.out)

    def sets(self) -> list[str]:
        return [name for name in self.prompts.sets() if wanted(self.given.sets, name)]

    def ways(self) -> dict[str, Way]:
        return {how: way for how, way in WAYS.items() if wanted(self.given.only, how)}

    def speakers(self, name: str) -> list[str]:
        """Of a set, those this process is to make."""
        known = self.prompts.speakers(name)
        return [speaker for speaker in known if wanted(self.given.speakers, speaker)]

    def plan(self) -> list[tuple[str, str, str]]:
        """Sets, ways and speakers; numbers of turns are of interest with an adapter alone."""
        found = []
        for name in self.sets():
            for how, way in self.ways().items():
                if not way.tuned and "turns" in self.prompts.head["sets"][name]:
                    continue
                if self.prompts.has(name, way.field):
                    found += [(name, how, speaker) for speaker in self.speakers(name)]
        return found

    def work(self) -> None:
        """Does every job that no other process does."""
        jobs = [job for job in self.plan() if self.waiting(*job)]
        if not jobs and not self.rates_wanted():
            return
        hands = Jobs(self)
        if not self.given.worker:
            self.report["machine"] = hands.machine()
        if self.rates_wanted():
            self.choose_rate(hands)
        claims = Claims(self.out)
        failed = 0
        for job in jobs:
            if time.perf_counter() - self.began > self.given.seconds:
                self.say("no time to begin more")
                break
            title = "-".join(job)
            if claims.take(title):
                if self.waiting(*job):
                    failed += not self.tried(hands, job)
                    self.jobs_done += 1
                claims.give_back(title)
        self.save_report()
        if failed:
            sys.exit(f"{failed} jobs failed")

    def tried(self, hands: Jobs, job: tuple[str, str, str]) -> bool:
        """Does a job; one that fails is said and left for another call."""
        try:
            hands.do(*job)
        except (RealtalkError, RuntimeError) as error:  # a card that is full raises the second
            self.say(f"{'-'.join(job)} failed: {error}")
            return False
        return True

    def waiting(self, name: str, how: str, speaker: str) -> list[str]:
        """The titles of a job that are not written yet."""
        places = [name]
        learned = self.prompts.rows(name, "learn", speaker)
        if self.given.held and learned and WAYS[how].field in learned[0]:
            places.append(name + HELD)
        titles = [f"{place}-{how}-{way}" for place in places for way in self.samplings]
        return [title for title in titles if not self.part(title, speaker).is_file()]

    def rates_wanted(self) -> bool:
        tuned = any(way.tuned for way in self.ways().values())
        return tuned and len(self.rates) > 1 and not self.read_choice()

    def choose_rate(self, hands: Jobs) -> None:
        """Of several learning rates the one whose adapters predict the held-out turns best.

        Those are turns of the chats that are learned from: the tested chats have no say, and what
        is chosen is written down before anything of them is.
        """
        name = self.sets()[0]
        tuned = (how for how, way in self.ways().items() if way.tuned)
        how = next(how for how in tuned if self.prompts.has(name, WAYS[how].field))
        speakers = sorted(
            self.speakers(name), key=lambda who: len(self.prompts.rows(name, "learn", who))
        )[: self.given.trials]
        claims = Claims(self.out)
        tries = [(rate, speaker) for rate in self.rates for speaker in speakers]
        losses = dict.fromkeys(self.rates, 0.0)
        while left := [each for each in tries if not hands.tried(each[0], name, how, each[1])]:
            for rate, speaker in left:
                title = f"rate-{rate}-{name}-{how}-{speaker}"
                if claims.take(title):
                    hands.trained(name, how, speaker, trial=rate)
                    claims.give_back(title)
            time.sleep(0.2)  # another process may be at the last ones
        for rate, speaker in tries:
            losses[rate] += hands.tried(rate, name, how, speaker) / len(speakers)
        best = min(losses, key=lambda rate: losses[rate])
        self.tuning = replace(self.tuning, learning_rate=best)
        self.report["rates"] = {"held_out": losses, "chosen": best}
        if not self.read_choice():
            told = {**self.report["rates"], "speakers": speakers, "set": name, "way": how}
            told |= {"tuning": asdict(self.tuning), "at": datetime.now(UTC).isoformat()}
            told["samplings"] = {way: asdict(each) for way, each in self.samplings.items()}
            save_text(self.out / "chosen.json", json.dumps(told, indent=1))
            self.say(f"learning rate {best}: held out {losses}")

    def join(self) -> None:
        """One file of rows per way, one report, and the archive."""
        if self.given.speakers is None:
            self.read_reports(sorted(self.out.glob("report*.json")))
        self.read_choice()
        self.collect()
        if lines := rate_lines(self.report):
            self.report["rate_lines"] = lines
        self.save_report()
        if self.jobs_done or self.given.processes > 1:
            for line in lines:
                self.say(line)
        if self.given.pack is not None:
            with tarfile.open(self.given.pack, "w:gz") as archive:
                archive.add(self.told, "report.json")
                if (chosen := self.out / "chosen.json").is_file():
                    archive.add(chosen, "chosen.json")
                for path in sorted((self.out / "rows").glob("*.jsonl")):
                    archive.add(path, f"rows/{path.name}")
        self.say(f"done: {self.out}")

    def save_report(self) -> None:
        save_text(self.told, json.dumps(self.report, indent=1))

    def part(self, title: str, speaker: str) -> Path:
        return self.out / "parts" / title / f"{speaker}.jsonl"

    def save_part(self, title: str, speaker: str, rows: Iterable[Row]) -> None:
        save_lines(self.part(title, speaker), rows)

    def collect(self) -> None:
        """The speakers' parts of a way of writing as one file, under a line that says how."""
        for folder in sorted((self.out / "parts").glob("*")):
            name, how, way = folder.name.split("-")
            if way not in self.samplings:
                continue  # of another call
            there = [path.stem for path in folder.glob("*.jsonl")]  # of other processes, too
            shown = WAYS[how].field == "retrieved"
            head = {
                "simulator": " ".join([WAYS[how].simulator, *(h for h in SAMPLED if h in way)]),
                "prompt_version": self.prompts.head["prompt_version"],
                **self.prompts.about(name.removesuffix(HELD), there),
                "settings": {
                    **{
                        "base": self.given.base.name.removesuffix(".gguf"),
                        "device": self.given.device,
                    },
                    **({"examples": self.prompts.head["examples"]} if shown else {}),
                    **asdict(self.samplings[way]),
                    **(asdict(self.tuning) if WAYS[how].tuned else {}),
                },
            }
            lines = [head]
            for path in sorted(folder.glob("*.jsonl")):
                lines += [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]
            save_lines(self.out / "rows" / f"{folder.name}.jsonl", lines)

    def say(self, line: str) -> None:
        sys.stdout.write(f"[{time.perf_counter() - self.began:6.1f} s] {line}\n")
        sys.stdout.flush()


def wanted(names: str | None, name: str) -> bool:
    return names is None or name in names.split(",")


def save_lines(path: Path, rows: Iterable[Row]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    save_text(path, "".join(json.dumps(row) + "\n" for row in rows))


def save_text(path: Path, text: str) -> None:
    temporary = path.with_suffix(".part")
    temporary.write_text(text, "utf-8")
    temporary.replace(path)


if __name__ == "__main__":
    main()
