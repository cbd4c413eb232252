"""Where tests find the research data, and how they run the command."""

from __future__ import annotations

import gc
import itertools
import os
import pickle
import signal
import threading
from collections.abc import Callable
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import settings

from command import Result, run_command
from realtalk.encoders import model
from tries import tries

pytest_plugins = ["page_browser"]

# On a CI machine the property-based tests try the same examples every time: a red run must
# mean a change, not luck. At home they go on looking for new ones.
# No example has a deadline: a busy machine is no fault.
settings.register_profile("ci", derandomize=True, deadline=None, max_examples=tries(100))
settings.register_profile("home", deadline=None, max_examples=tries(100))
settings.load_profile("ci" if os.environ.get("CI") else "home")

# A shell that starts a job in the background lets it ignore Ctrl-C, and so would every command
# that a test starts and interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """What is loaded by now stays: no later collection looks through half a gigabyte again."""
    gc.collect()
    gc.freeze()


gc.set_threshold(50_000, 20, 20)  # tests leave few cycles, and loading modules none

_NUMBERS = itertools.count()


def data_folder() -> Path | None:
    """`REALTALK_DATA`, else the `shared/data` folder beside the checkout."""
    named = os.environ.get("REALTALK_DATA")
    path = Path(named) if named else Path(__file__).parents[2] / "shared" / "data"
    return path if path.is_dir() else None


@pytest.fixture(scope="session")
def data() -> Path:
    """The research data, or a skip with the reason."""
    folder = data_folder()
    if folder is None:
        pytest.skip("research data not at hand (set REALTALK_DATA to its folder)")
    return folder


@pytest.fixture(scope="session")
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache for the tests of a process, so that vectors are made once."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def no_own_cache(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, shared_cache: Path
) -> None:
    """Labels and vectors are kept in the user's cache; the tests' belong elsewhere.

    A test has a cache of its own, so that it does not depend on who was before it; vectors of
    threads, which are slow, are shared.
    """
    shared = "threads" in request.path.parts or "threads" in request.path.stem
    name = "threads" if shared else f"test-{next(_NUMBERS)}"
    monkeypatch.setenv("REALTALK_CACHE", str(shared_cache / name))


class RememberedSession:
    """A model's session that runs no row twice: rows are run alone, and many tests share samples.

    The workers of a run share what they ran. `tests/encoders` and `tests/ei/test_embedded.py` hold
    that rows are run alone, and run each anew.
    """

    remembers = True
    folder: ClassVar[Path | None] = None
    _outputs: ClassVar[dict[str, Any]] = {}

    def __init__(self, *file: Any) -> None:
        self._file, self._session = file, _load_session(*file)
        self.get_providers = self._session.get_providers

    def run(self, names: None, inputs: dict[str, Any]) -> Any:
        if not self.remembers:
            return self._session.run(names, inputs)
        asked = blake2b(repr(self._file).encode())
        for row in inputs.values():
            asked.update(str(row.shape).encode() + row.tobytes())
        name = asked.hexdigest()
        if name not in self._outputs:
            self._outputs[name] = self._shared(name, inputs)
        return self._outputs[name]

    def _shared(self, name: str, inputs: dict[str, Any]) -> Any:
        if self.folder is None:  # tests from elsewhere, such as research/tests
            return self._session.run(None, inputs)
        path = self.folder / name
        if path.exists():
            return pickle.loads(path.read_bytes())
        made = self._session.run(None, inputs)
        own = path.with_suffix(f".{os.getpid()}-{threading.get_ident()}")  # rows run in threads
        own.write_bytes(pickle.dumps(made))
        own.replace(path)  # whole or absent
        return made


_load_session = model._onnx_session
model._onnx_session = RememberedSession  # type: ignore[assignment]


@pytest.fixture(scope="session", autouse=True)
def work_is_shared(tmp_path_factory: pytest.TempPathFactory) -> None:
    from altair.utils import schemapi
    from scipy import stats

    schemapi.DEBUG_MODE = False  # a chart is checked as a whole, and not each of its parts before
    # A table asks for the intervals of a few shares again and again; SciPy adds a p-value to each.
    stats.binomtest = cache(stats.binomtest)
    own = tmp_path_factory.getbasetemp()
    RememberedSession.folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "rows"
    RememberedSession.folder.mkdir(exist_ok=True)


@pytest.fixture(autouse=True)
def rows_are_run_once(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    anew = {"encoders", "test_embedded.py"} & {*request.path.parts}
    monkeypatch.setattr(RememberedSession, "remembers", not anew)


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Models are asked again at once, and without a key of this machine's."""
    monkeypatch.setenv("REALTALK_RETRY_WAIT", "0")
    monkeypatch.delenv("LOCAL_API_KEY", raising=False)


@pytest.fixture
def quick_charts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Charts without the library of their pages, which takes seconds; tests/describe has it."""
    monkeypatch.setattr("vl_convert.vegalite_to_html", lambda *_, **__: "<html></html>")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Result]:
    """Runs the command in this process, in an empty folder: (status, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)
    return run_command


@pytest.fixture
def pears(tmp_path: Path) -> str:
    """A chat that takes no time."""
    said = (
        "Theo, are the pears in?",
        "Bex took them to Juno",
        "Ask Mara. Or Bex!",
        "Juno has none",
    )
    lines = [
        f"[01/03/2026, 10:0{at}:00] {('Mara', 'Theo')[at % 2]}: {line}\n"
        for at, line in enumerate(said)
    ]
    (tmp_path / "pears.txt").write_text("".join(lines), "utf-8")
    return "pears.txt"
