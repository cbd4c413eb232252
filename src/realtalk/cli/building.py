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
command has (`--json`, `--fail-on`) are keyword parameters of `show`, which prints the result.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from functools import cached_property
from typing import Annotated, Any

from cyclopts import Group, Parameter

from realtalk.api.options import Engine, Model, Reading
from realtalk.errors import RealtalkError

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
_PANELS: Mapping[type, Group] = {
    Reading: Group("Reading", sort_key=2),
    Model: Group("Model", sort_key=3),
    Engine: Group("Many machines", sort_key=4),
}
_USUAL = Group("Options", sort_key=1)
_FEWEST_EXAMPLES = 3
_KINDS: Mapping[str, type] = {"bool": bool, "int": int, "float": float}


@dataclass(frozen=True)
class Option:
    """One argument or option of a command."""

    name: str  # unique among those of the command
    annotation: str
    default: Any
    help: str
    group: Group
    keywords: tuple[str, ...]  # empty: an argument

    @cached_property
    def kinds(self) -> list[str]:
        return [part.strip().strip('"') for part in self.annotation.split("|")]

    @property
    def is_mapping(self) -> bool:
        return any(kind.startswith("Mapping") for kind in self.kinds)

    @property
    def is_sequence(self) -> bool:
        return any(kind.startswith("Sequence") for kind in self.kinds)

    @property
    def kind(self) -> type:
        """What the words of the command line are read as."""
        kinds = [] if "str" in self.kinds else self.kinds
        return next((_KINDS[kind] for kind in kinds if kind in _KINDS), str)

    def parameter(self) -> inspect.Parameter:
        """The same as the command-line library takes it."""
        several = self.is_mapping or self.is_sequence
        kind: Any = (tuple[str, ...] if several else self.kind) if self.keywords else self.kind
        required = self.default is inspect.Parameter.empty
        shows_default = not (required or several or self.default in (None, "", False, ()))
        about = Parameter(
            name=self.keywords or None,
            help=self.help,
            group=self.group,
            negative=None if self.default is True else (),
            show_default=shows_default,
        )
        places = inspect.Parameter
        argument = places.VAR_POSITIONAL if several else places.POSITIONAL_ONLY
        return inspect.Parameter(
            self.name,
            places.KEYWORD_ONLY if self.keywords else argument,
            default=(
                (() if self.keywords else inspect.Parameter.empty)
                if several and not required
                else self.default
            ),
            annotation=Annotated[kind if required or several else kind | None, about],
        )

    def value(self, words: Any) -> Any:
        """What the function takes, of what was written."""
        if self.is_mapping:
            return dict(self._pairs(words))
        if self.is_sequence and self.keywords:
            return [part.strip() for text in words for part in text.split(",") if part.strip()]
        return words

    def _pairs(self, texts: Sequence[str]) -> Iterator[tuple[str, str]]:
        keys: set[str] = set()
        for text in texts:
            key, equals, value = (part.strip() for part in text.partition("="))
            if not (key and equals and value):
                raise RealtalkError(
                    f"'{text}' is not KEY=VALUE", fix=f"write {self.keywords[0]} KEY=VALUE"
                )
            if key in keys:
                raise RealtalkError(f"'{key}' is set twice", fix="say it once")
            keys.add(key)
            yield key, value


@dataclass(frozen=True)
class Docstring:
    """A docstring in Google form, in parts."""

    text: str  # summary and paragraphs
    sections: Mapping[str, str]

    @classmethod
    def of(cls, source: Any) -> Docstring:
        """The docstring of a function or class."""
        parts = re.split(r"^(\w+):\n(?=    )", inspect.getdoc(source) or "", flags=re.MULTILINE)
        return cls(parts[0].strip(), dict(zip(parts[1::2], parts[2::2], strict=True)))

    def entries(self, *names: str) -> dict[str, str]:
        """`name: help` lines of a section, continued where they are indented further."""
        texts: dict[str, str] = {}
        for section in names:
            text = self.sections.get(section, "")
            for entry in re.finditer(r"^    (\w+): (.*(?:\n     .*)*)", text, re.MULTILINE):
                texts[entry[1]] = " ".join(entry[2].split())
        return texts


class Command:
    """A function with what prints its result, as one command."""

    def __init__(
        self,
        words: str,
        function: Callable[..., Any],
        show: Show,
        default_verb: str = "run",
        retry: Callable[[RealtalkError], Mapping[str, Any] | None] | None = None,
        **supply: Any,
    ) -> None:
        self.words = words  # "probe", "runs show"
        self.retry = retry  # what is to be called with instead, once an error told what is missing
        self.supply = supply  # what the command gives where nothing was written
        self.default_verb = default_verb  # what the first command of a group is also called
        self.function = function
        self.show = show

    @cached_property
    def _about(self) -> Docstring:
        return Docstring.of(self.function)

    @cached_property
    def _parameters(self) -> dict[str, inspect.Parameter]:
        return dict(inspect.signature(self.function).parameters)

    @cached_property
    def _printing(self) -> dict[str, inspect.Parameter]:
        """What only the command has: what `show` lists. It may take values of the function, too."""
        own = inspect.signature(self.show).parameters
        listed = Docstring.of(self.show).entries("Args")
        return {name: own[name] for name in listed if name not in self._parameters}

    @cached_property
    def options(self) -> tuple[Option, ...]:
        """Every argument and option, in the order of the function."""
        helps = self._about.entries("Args")
        options: list[Option] = []
        for name, parameter in self._parameters.items():
            kind = _object_in(str(parameter.annotation))
            if kind is not None:
                options.extend(_fields(name, kind))
            elif not _is_hidden(parameter):
                options.append(_option(parameter, helps.get(name, "")))
        texts = Docstring.of(self.show).entries("Args")
        options.extend(
            _option(parameter, texts.get(name, "")) for name, parameter in self._printing.items()
        )
        return tuple(options)

    @property
    def option_names(self) -> dict[str, str]:
        """How each parameter is spelled on the command line."""
        return {
            option.name: (option.keywords or (option.name.upper(),))[0] for option in self.options
        }

    def __call__(self, *arguments: Any, **options: Any) -> int | None:
        """Calls the function with what was written, and prints what it returns."""
        from realtalk.cli.printing import running

        positional = [option for option in self.options if not option.keywords]
        arguments = tuple("-" if argument == PIPE else argument for argument in arguments)
        values = {
            option.name: option.value(options[option.name])
            for option in self.options
            if option.name in options
        }
        if positional and positional[-1].is_sequence:
            at = len(positional) - 1
            arguments = (*arguments[:at], list(arguments[at:]))
        values |= {
            option.name: argument for option, argument in zip(positional, arguments, strict=False)
        }
        calls: dict[str, Any] = {}
        with running(self, calls):
            for name, parameter in self._parameters.items():
                kind = _object_in(str(parameter.annotation))
                if kind is not None:
                    own = {option.name: field for field, option in _named_fields(name, kind)}
                    field_values = {own[key]: values.pop(key) for key in [*values] if key in own}
                    calls[name] = kind(**field_values)
                elif name in values:
                    calls[name] = values.pop(name)
                if name in self.supply and not calls.get(name):
                    calls[name] = self.supply[name]
            result = self._call(calls)
            keywords = inspect.signature(self.show).parameters
            shown_options = {
                name: value
                for name, value in calls.items()
                if name in keywords and keywords[name].kind is inspect.Parameter.KEYWORD_ONLY
            }
            return self.show(result, **values, **shown_options)

    def _call(self, calls: dict[str, Any]) -> Any:
        """The function's result, with a bar; called again where somebody answers a question."""
        from realtalk.cli.printing import progress

        while True:
            try:
                if "progress" not in self._parameters:
                    return self.function(**calls)
                with progress(self.words) as advance:
                    return self.function(**calls, progress=advance)
            except RealtalkError as error:
                more = self.retry(error) if self.retry else None
                if more is None:
                    raise
                for name, value in more.items():
                    calls[name] = {**(calls.get(name) or {}), **value}

    @property
    def summary(self) -> str:
        """The first line of the docstring."""
        return self._about.text.partition("\n")[0]

    @property
    def help(self) -> str:
        """What the docstring says, with parameters spelled as options."""
        names = self.option_names
        text = re.sub(r"`(\w+)`", lambda match: names.get(match[1], match[0]), self._about.text)
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
        if 0 < len(lines) < _FEWEST_EXAMPLES and "json" in self._printing:
            yield f"{lines[0]} --json"

    def _example_calls(self) -> Iterator[str]:
        for line in self._about.sections.get("Example", "").splitlines():
            code, _, comment = line.partition("  # ")
            try:
                call = ast.parse(code.strip().removeprefix(">>> ")).body[0]
            except (SyntaxError, IndexError):
                continue
            value = getattr(call, "value", None)
            if isinstance(value, ast.Call) and _last_name(value.func) == self.function.__name__:
                yield self._line(value) + (f"    # {comment}" if comment else "")

    def _line(self, call: ast.Call) -> str:
        positional = [option for option in self.options if not option.keywords]
        words = ["realtalk", *self.words.split()]
        by_name = {option.name: option for option in self.options}
        names = list(self._parameters)
        arguments = [(names[at], node) for at, node in enumerate(call.args)]
        arguments += [(keyword.arg or "", keyword.value) for keyword in call.keywords]
        for name, node in sorted(
            arguments, key=lambda pair: by_name.get(pair[0]) not in positional
        ):
            words += self._words(by_name, name, node)
        return " ".join(words)

    def _words(self, by_name: Mapping[str, Option], name: str, node: ast.expr) -> Iterator[str]:
        if isinstance(node, ast.Call):  # a value object
            for keyword in node.keywords:
                yield from self._words(by_name, keyword.arg or "", keyword.value)
            if node.args:
                yield from self._words(by_name, name, node.args[0])
            return
        value: Any = ast.literal_eval(node)
        option = by_name.get(name) or by_name["format"]  # `reading="whatsapp"`
        if isinstance(value, dict):
            texts = [f"{key}={entry}" for key, entry in value.items()]
        elif isinstance(value, list | tuple):
            texts = list(map(str, value))
            texts = [",".join(texts)] if option.keywords else texts
        else:
            texts = [str(value)]
        for text in texts:
            word = f'"{text}"' if re.search(r"[\s*?&;]", text) else text
            if not option.keywords:
                yield word
            elif isinstance(value, bool):
                yield option.keywords[0] if value else option.keywords[0].replace("--", "--no-")
            else:
                yield f"{option.keywords[0]} {word}"

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
    kinds = [part.strip() for part in str(parameter.annotation).split("|")]
    is_code = kinds[0].startswith(("Callable", "tuple", "Progress")) and "str" not in kinds
    return is_code or parameter.kind is parameter.VAR_KEYWORD


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _object_in(annotation: str) -> type | None:
    """The value object that an annotation names."""
    words = {part.strip().strip('"') for part in annotation.split("|")}
    return next((kind for kind in _PANELS if kind.__name__ in words), None)


def _fields(parameter: str, kind: type) -> list[Option]:
    return [option for _, option in _named_fields(parameter, kind)]


def _named_fields(parameter: str, kind: type) -> list[tuple[str, Option]]:
    """The fields of a value object as options; `name` is called like the parameter."""
    helps = Docstring.of(kind).entries("Attributes")
    options: list[tuple[str, Option]] = []
    for field in fields(kind):
        name = parameter if field.name == "name" else field.name
        default = {} if field.default is MISSING else field.default
        spelled = _option_names(name)
        option = Option(name, str(field.type), default, helps[field.name], _PANELS[kind], spelled)
        options.append((field.name, option))
    return options


def _option(parameter: inspect.Parameter, help_text: str) -> Option:
    is_argument = parameter.kind is not parameter.KEYWORD_ONLY
    return Option(
        parameter.name,
        str(parameter.annotation),
        parameter.default,
        help_text,
        _USUAL,
        () if is_argument else _option_names(parameter.name),
    )


def _option_names(name: str) -> tuple[str, ...]:
    return _OPTIONS.get(name, (f"--{name.replace('_', '-')}",))
