"""A command under strace, in a home and a temporary folder of its own → what it reached and wrote.

world = World(tmp_path)
done = world.run("stats", "sample", "--figures", "out/pictures")
done.reached     → []                      # connections outside this machine, name look-ups
done.written     → ["/…/elsewhere/file"]   # outside the named folders
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

COMMAND = (sys.executable, "-c", "from realtalk.cli.main import main; main()")
# Several commands in one process, each argument a command line: libraries are imported once.
COMMANDS = (
    sys.executable,
    "-c",
    """
import sys
from realtalk.cli.main import main
for line in sys.argv[1:]:
    sys.argv = ["realtalk", *line.split()]
    try:
        main()
    except SystemExit as stop:
        # 1: `check` has found something, as it may.
        if stop.code and not (stop.code == 1 and sys.argv[1] == "check"):
            sys.exit(f"{line}: {stop.code}")
""",
)
_CALLS = "connect sendto sendmsg sendmmsg openat open creat mkdir mkdirat rename renameat renameat2"
_CALLS += " link linkat symlink symlinkat mknod mknodat truncate unlink unlinkat rmdir"
_TRACE = "trace=" + ",".join(f"?{name}" for name in _CALLS.split())
_LOOPBACK = re.compile(r'inet_addr\("127\.[\d.]+"\)|inet_pton\(AF_INET6, "(?:::1|::ffff:127\.)')
_NAME_SERVER = re.compile(r"sin6?_port=htons\((?:53|853|5353|5355)\)")
_RESOLVER = re.compile(
    r'"(?:/etc/(?:resolv\.conf|hosts|nsswitch\.conf)|/run/systemd/resolve/[^"]*)"'
)
_WRITING = re.compile(r"O_(?:WRONLY|RDWR|CREAT|TRUNC|APPEND)")
_PLACE = re.compile(
    r'(?:AT_FDCWD|\d+)(?:<(?P<at>[^>]*)>)?, "(?P<name>(?:[^"\\]|\\.)*)"|"(?P<only>[^"]*)"'
)
# Devices, semaphores (joblib tries one when it is imported), what is asked of the kernel.
_SYSTEM = re.compile(r"/(?:dev/(?:null|tty|pts/|urandom|random|shm/sem\.)|proc/|sys/)")
_LISTED = {*("connect", "sendto", "sendmsg", "sendmmsg")}


@dataclass(frozen=True)
class Done:
    """What a command did beyond its work."""

    status: int
    reached: list[str]
    written: list[str]
    temporary: list[str]  # what it left in the temporary folder
    said: str


@cache
def why_not() -> str:
    """Why nothing can be traced on this machine, "" where it can."""
    if shutil.which("strace") is None:
        return "strace is not installed"
    tried = subprocess.run(["strace", "-f", "-qq", "-o", os.devnull, "true"], capture_output=True)
    return "" if tried.returncode == 0 else "strace may not trace here (ptrace is not allowed)"


class World:
    """Empty folders in which commands run one after the other."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.out = self.root / "out"
        self.home, self.temporary = self.root / "home", self.root / "tmp"
        for folder in (self.out, self.home, self.temporary, self.root / "work"):
            folder.mkdir()
        kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
        self.environment = {
            **kept,
            "HOME": str(self.home),
            "USER": "somebody",
            "TMPDIR": str(self.temporary),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
            # A profile that asks for reports: it must not count.
            "ORT_DISABLE_TELEMETRY": "0",
            "HF_HUB_DISABLE_TELEMETRY": "0",
            "LANGSMITH_TRACING": "true",
        }

    def run(
        self,
        *words: str,
        command: Sequence[str] = COMMAND,
        until: Callable[[str], None] | None = None,
        asked: Sequence[str] = (),
    ) -> Done:
        """Runs a command to its end, or until it has printed a line and `until` has seen it.

        Lines that are `asked` are written to its input one by one; those with an "id" are waited
        for until a line answers them. Then the input ends.
        """
        log = self.root / "trace"
        tracing = ("strace", "-f", "-qq", "-y", "-s", "4096", "--seccomp-bpf", "-o", str(log))
        said = self.root / "said"
        with (
            said.open("w", encoding="utf-8") as errors,
            subprocess.Popen(
                [*tracing, "-e", _TRACE, "-e", "signal=none", *command, *words],
                stdin=subprocess.PIPE if asked else None,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=self.root / "work",
                env=self.environment,
                text=True,
                umask=0,
            ) as process,
        ):
            assert process.stdout is not None
            if until is not None:
                until(process.stdout.readline())
                for child in _children(process.pid):
                    os.kill(child, signal.SIGINT)
            printed = _answers(process, asked) if asked else process.stdout.read()
            status = process.wait()
        reached, written = [], []
        for line in log.read_text("utf-8", "replace").splitlines():
            call = re.match(r"\d+\s+(?:<\.\.\. )?(\w+)", line)
            if call is None:
                continue
            if call[1] in _LISTED:
                reached += [line] if _goes_out(line) else []
            elif _RESOLVER.search(line):
                reached.append(line)
            elif (path := self._written(call[1], line)) is not None:
                written.append(path)
        left = sorted(path.name for path in self.temporary.iterdir())
        return Done(status, reached, sorted(set(written)), left, printed + said.read_text("utf-8"))

    def _written(self, call: str, line: str) -> str | None:
        """The path of a call that changes something outside the named folders."""
        if call in ("openat", "open") and not _WRITING.search(line.partition('", ')[2]):
            return None
        failed = re.search(r"= -1 E\w+", line)
        found = list(_PLACE.finditer(line))
        if failed or not found:
            return None
        last = found[-1]  # where something is moved to
        name = last["name"] if last["only"] is None else last["only"]
        path = os.path.normpath(Path(last["at"] or self.root / "work") / name)
        mine = (self.out, self.home / ".cache" / "realtalk", self.temporary)
        if any(Path(path).is_relative_to(folder) for folder in mine) or _SYSTEM.match(path):
            return None
        if call in ("mkdir", "mkdirat") and (self.home / ".cache").is_relative_to(path):
            return None  # the way to the package's own cache
        return path


def _answers(process: subprocess.Popen[str], asked: Sequence[str]) -> str:
    """What a process answers to lines, and all that it prints after the last of them."""
    assert process.stdin is not None and process.stdout is not None
    printed = []
    for line in asked:
        process.stdin.write(f"{line}\n")
        process.stdin.flush()
        if '"id"' in line:
            printed.append(process.stdout.readline())
    process.stdin.close()
    return "".join((*printed, process.stdout.read()))


def _goes_out(line: str) -> bool:
    """Whether a connection or a datagram leaves this machine, or asks for a name."""
    if "AF_UNIX" in line:
        return "sun_path" in line  # a name service, a bus: none of them is needed
    if "AF_INET" not in line:
        return False
    return _NAME_SERVER.search(line) is not None or _LOOPBACK.search(line) is None


def _children(pid: int) -> list[int]:
    """The processes that strace started."""
    for _ in range(200):
        found = Path(f"/proc/{pid}/task/{pid}/children").read_text("utf-8").split()
        if found:
            return [int(each) for each in found]
        time.sleep(0.05)
    return []
