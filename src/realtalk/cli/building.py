"""A Python function → a command: parameters as options, the docstring as its help.

    def stats(corpus: Readable, *, reading: Reading | str | None = None) -> CorpusStats:
        '''Describe a corpus.

        Args:
            corpus: Chat, corpus or sample name.

        Example:
            rt.stats("sample")
        '''
    command(stats, show_stats)  → realtalk stats CORPUS --format … --gap … --json

Parameters before the `*` are arguments, the others options. Value objects (`Reading`,
`Model`, `Engine`) become one option per field, in a panel of their own. Sequences are written with
commas, mappings as KEY=VALUE, and calls among the examples are shown as commands. What only the
command has (`--fail-on`) are documented keyword parameters of `show`, which prints the result; what
returns something has `--json`, too.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cached_property
from typing import Annotated, Any

from cyclopts import Group, Parameter

from realtalk.api.choices import Engine, Model, Reading
from realtalk.cli import printing
from realtalk.errors import RealtalkError
from realtalk.registry import kind_in

Show = Callable[..., int | None]
PIPE = "<stdin>"  # stands for a lone "-", which the command-line library takes for an option
_OPTIONS = {
    "annotations": ("--annotations", "-a"),
    "axes": ("--set",),
    "budget": ("--budget", "-b"),
    "columns": ("--column",),
    "format": ("--format", "-f"),
    "guesser": ("--guesser", "-g"),
    "leaks": ("--leak",),
    "memory": ("--memory", "-m"),
    "memory_settings": ("--memory-set",),
    "most": ("--most", "-n"),
    "out": ("--out", "-o"),
    "partner": ("--as",),
    "predictor": ("--predictor", "-p"),
    "settings": ("--set",),
    "speaker": ("--speaker", "-s"),
    "task": ("--task", "-t"),
    "to": ("--to", "-t"),
    "yes": ("--yes", "-y"),
}
_OBJECTS: Mapping[type, Group] = {
    Reading: Group("Reading", sort_key=2),
    Model: Group("Model", sort_key=3),
    Engine: Group("Many machines", sort_key=4),
}
_USUAL = Group("Options", sort_key=1)
_FEWEST_EXAMPLES = 3


@dataclass(frozen=True)
class Option:
    """One argument or option of a command."""

    name: str  # unique among those of the command
    annotation: str
    default: Any
    help: str
    group: Group = _USUAL
    is_argument: bool = False
    owner: str = ""  # the parameter whose value has it as a field
    field: str = ""

    @property
    def keywords(self) -> tuple[str, ...]:
        """How it is spelled; an argument is not."""
        if self.is_argument:
            return ()
        return _OPTIONS.get(self.name, (f"--{self.name.replace('_', '-')}",))

    @property
    def is_mapping(self) -> bool:
        return "Mapping[" in self.annotation

    @property
    def is_several(self) -> bool:
        return self.is_mapping or "Sequence[" in self.annotation

    def parameter(self) -> inspect.Parameter:
        """The same as the command-line library takes it."""
        places, default = inspect.Parameter, self.default
        place: Any = places.POSITIONAL_ONLY
        is_required = default is places.empty
        kind: Any = kind_in(self.annotation)
        if self.is_several:
            place = places.VAR_POSITIONAL
            kind = kind if self.is_argument else tuple[str, ...]
            default = places.empty if self.is_argument or is_required else ()
        else:
            kind = kind if is_required else kind | None
        about = Parameter(
            name=self.keywords or None,
            help=self.help,
            group=self.group,
            negative=None if default is True else (),
            show_default=default not in (places.empty, None, "", False, ()),
        )
        return places(
            self.name,
            place if self.is_argument else places.KEYWORD_ONLY,
            default=default,
            annotation=Annotated[kind, about],
        )

    def value(self, words: Any) -> Any:
        """What the function takes, of what was written."""
        if self.is_mapping:
            return self._mapping(words)
        if self.is_several and not self.is_argument:
            return [part.strip() for text in words for part in text.split(",") if part.strip()]
        return words

    def _mapping(self, texts: Iterable[str]) -> dict[str, str]:
        values: dict[str, str] = {}
        for text in texts:
            key, _, value = (part.strip() for part in text.partition("="))
            if not (key and value):
                raise RealtalkError(
                    f"'{text}' is not KEY=VALUE", fix=f"write {self.keywords[0]} KEY=VALUE"
                )
            if key in values:
                raise RealtalkError(f"'{key}' is set twice", fix="say it once")
            values[key] = value
        return values

    def words(self, value: Any) -> str:
        """A value as it is typed."""
        if isinstance(value, bool):
            return self.keywords[0] if value else self.keywords[0].replace("--", "--no-")
        if isinstance(value, dict):
            texts = [f"{key}={entry}" for key, entry in value.items()]
        else:
            texts = [str(part) for part in value] if isinstance(value, list) else [str(value)]
            texts = texts if self.is_argument else [",".join(texts)]
        quoted = (f'"{text}"' if re.search(r"[\s*?&;]", text) else text for text in texts)
        return " ".join(" ".join((*self.keywords[:1], text)) for text in quoted)


def sections(source: Any) -> dict[str, str]:
    """A docstring in Google form, in parts; what stands above the sections is called ""."""
    parts = re.split(r"^(\w+):\n(?=    )", inspect.getdoc(source) or "", flags=re.MULTILINE)
    return {"": parts[0].strip(), **dict(zip(parts[1::2], parts[2::2], strict=True))}


def entries(source: Any, section: str = "Args") -> dict[str, str]:
    """`name: help` lines of a section, continued where they are indented further."""
    text = sections(source).get(section, "")
    listed = re.finditer(r"^    (\w+): (.*(?:\n     .*)*)", text, re.MULTILINE)
    return {entry[1]: " ".join(entry[2].split()) for entry in listed}


@dataclass(frozen=True, eq=False)
class Command:
    """A function with what prints its result, as one command."""

    words: str  # "probe", "runs show"
    function: Callable[..., Any]
    show: Show | None = None  # none: what was to be said was said while it ran
    default_verb: str = "run"  # what the first command of a group is also called
    has_json: bool = True
    # What is to be called with as well, once an error told what is missing.
    retry: Callable[[RealtalkError], Mapping[str, Any] | None] | None = None
    supply: Mapping[str, Any] = field(default_factory=dict)  # for what was not written

    @cached_property
    def _sections(self) -> dict[str, str]:
        return sections(self.function)

    @cached_property
    def _parameters(self) -> dict[str, inspect.Parameter]:
        return dict(inspect.signature(self.function).parameters)

    @cached_property
    def options(self) -> tuple[Option, ...]:
        """Every argument and option: the function's in their order, then those of printing."""
        helps = entries(self.function)
        options: list[Option] = []
        for name, parameter in self._parameters.items():
            kind = _object_in(parameter)
            if kind is not None:
                options += _fields(name, kind)
            elif not _is_hidden(parameter):
                options.append(_option(parameter, helps.get(name, "")))
        if self.show is not None:
            own = inspect.signature(self.show).parameters
            options += [_option(own[name], text) for name, text in entries(self.show).items()]
            if self.has_json:
                options.append(Option("json", "bool", False, "Print JSON."))
        return tuple(options)

    @property
    def option_names(self) -> dict[str, str]:
        """How each parameter is spelled on the command line."""
        return {
            option.name: (option.keywords or (option.name.upper(),))[0] for option in self.options
        }

    def __call__(self, *arguments: Any, **options: Any) -> int | None:
        """Calls the function with what was written, and prints what it returns."""
        words = ["-" if word == PIPE else word for word in arguments]
        for option in (option for option in self.options if option.is_argument):
            if option.is_several:
                options[option.name] = words
            elif words:
                options[option.name] = words.pop(0)
        calls = dict(self.supply)
        objects: dict[str, dict[str, Any]] = {}
        shown: dict[str, Any] = {}
        for option in self.options:
            if option.name not in options:
                continue
            value = option.value(options[option.name])
            if option.owner:
                objects.setdefault(option.owner, {})[option.field] = value
            elif option.name in self._parameters:
                calls[option.name] = value
            else:
                shown[option.name] = value
        for name, values in objects.items():
            kind = _object_in(self._parameters[name])
            calls[name] = None if kind is None else kind(**values)
        with printing.running(self, calls):
            result = self._call(calls)
            if self.show is None:
                return None
            printing.Output.is_json = shown.pop("json", False)
            _, *others = inspect.signature(self.show).parameters
            shown |= {name: value for name, value in calls.items() if name in others}
            return self.show(result, **shown)

    def _call(self, calls: dict[str, Any]) -> Any:
        """The function's result, with a bar; called again where somebody answers a question."""
        try:
            if "progress" not in self._parameters:
                return self.function(**calls)
            with printing.progress(self.words) as advance:
                return self.function(**calls, progress=advance)
        except RealtalkError as error:
            more = self.retry(error) if self.retry else None
            if more is None:
                raise
        return self._call(
            calls | {name: {**(calls.get(name) or {}), **value} for name, value in more.items()}
        )

    @property
    def summary(self) -> str:
        """The first line of the docstring."""
        return self._sections[""].partition("\n")[0]

    @property
    def help(self) -> str:
        """What the docstring says, with parameters spelled as options."""
        names = self.option_names
        text = re.sub(r"`(\w+)`", lambda match: names.get(match[1], match[0]), self._sections[""])
        return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))

    @property
    def epilogue(self) -> str:
        """The examples, one command per line."""
        lines = list(self.examples())
        return "\n".join(["Examples:", *(f"  {line}" for line in lines)]) if lines else ""

    def examples(self) -> Iterator[str]:
        """The calls of this function among its examples, as a terminal takes them.

        A command that has hardly an option is shown with `--json`, too.
        """
        lines = list(self._example_calls())
        yield from lines
        if 0 < len(lines) < _FEWEST_EXAMPLES and "json" in self.option_names:
            yield f"{lines[0]} --json"

    def _example_calls(self) -> Iterator[str]:
        for line in self._sections.get("Example", "").splitlines():
            code, _, comment = line.strip().partition("  # ")
            call = ast.parse(code, mode="eval").body if code.startswith("rt.") else None
            name = f".{self.function.__name__}"
            if isinstance(call, ast.Call) and ast.unparse(call.func).endswith(name):
                pairs = sorted(self._pairs(call), key=lambda pair: not pair[0].is_argument)
                words = (option.words(value) for option, value in pairs)
                shell = " ".join(("realtalk", self.words, *words))
                yield f"{shell}    # {comment}" if comment else shell

    def _pairs(self, call: ast.Call) -> Iterator[tuple[Option, Any]]:
        """Options of a call with their values; of a value object its fields."""
        by_name = {option.name: option for option in self.options}
        nodes = [*zip(self._parameters, call.args, strict=False)]
        nodes += [(keyword.arg or "", keyword.value) for keyword in call.keywords]
        for name, node in nodes:
            fields_or_node = [(name, node)]
            if isinstance(node, ast.Call):
                fields_or_node = [(keyword.arg or "", keyword.value) for keyword in node.keywords]
                fields_or_node += [(name, value) for value in node.args]
            for key, value in fields_or_node:
                # `reading="whatsapp"` names the format
                yield by_name.get(key) or by_name["format"], ast.literal_eval(value)

    def make_callable(self) -> Callable[..., Any]:
        """The function that the command-line library registers."""

        def call(*arguments: Any, **options: Any) -> int | None:
            return self(*arguments, **options)

        parameters = sorted(
            (option.parameter() for option in self.options), key=lambda parameter: parameter.kind
        )
        call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        call.__name__ = self.words.rpartition(" ")[2]
        return call


def _is_hidden(parameter: inspect.Parameter) -> bool:
    """Whether a parameter is no option: what Python alone can give, such as a function."""
    annotation = str(parameter.annotation)
    is_code = annotation.startswith(("Callable", "tuple", "Progress"))
    return (is_code and not annotation.endswith("| str")) or parameter.kind is parameter.VAR_KEYWORD


def _object_in(parameter: inspect.Parameter) -> type | None:
    """The value object that a parameter takes."""
    words = re.split(r'[\s|"]+', str(parameter.annotation))
    return next((kind for kind in _OBJECTS if kind.__name__ in words), None)


def _fields(parameter: str, kind: type) -> Iterator[Option]:
    """The fields of a value object as options; `name` is called like the parameter."""
    helps = entries(kind, "Attributes")
    for own in fields(kind):
        yield Option(
            parameter if own.name == "name" else own.name,
            str(own.type),
            {} if own.default is MISSING else own.default,
            helps[own.name],
            _OBJECTS[kind],
            owner=parameter,
            field=own.name,
        )


def _option(parameter: inspect.Parameter, help_text: str) -> Option:
    return Option(
        parameter.name,
        str(parameter.annotation),
        parameter.default,
        help_text,
        is_argument=parameter.kind is not parameter.KEYWORD_ONLY,
    )
