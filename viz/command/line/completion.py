"""`uopviz completion bash|zsh|fish`: scripts that complete commands, options, files and names.

The scripts are made from the parser. Names of traces, kernels and passes are asked for with the
hidden command `_complete`, which never fails: a completion that cannot be made is none.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import Final

from core.errors import UopvizError
from viz.command.line.names import below, find_kernel, find_trace, program_rows
from viz.command.line.parser import build_parser, commands_of
from viz.environment import cache_folder, recent
from viz.share.reopened import open_run
from viz.terminal import put_line

_TRACES: Final = 20
"""Recent traces that are offered."""
_NAMES: Final = 2_000
_SPECIAL: Final = {
    "kernel": "kernels", "pass_name": "passes", "output": "files", "text": "files",
}  # fmt: skip
"""What completes the value of an option, by where its value goes."""


def completion(options: argparse.Namespace) -> int:
    """Prints the script of a shell."""
    for line in _SCRIPTS[options.shell]():
        put_line(line)
    return 0


def complete(options: argparse.Namespace) -> int:
    """Prints what a name may be, one per line: of recent traces, of the kernels of the trace that
    is named on the command line `words`, or of the passes of the kernel there."""
    try:
        if options.what == "traces":
            names = [path.stem for path in recent(cache_folder(), _TRACES)]
        else:
            names = _names(options.what, options.words)
    except UopvizError:
        return 0
    for name in dict.fromkeys(names[:_NAMES]):
        put_line(name)
    return 0


def _names(what: str, words: list[str]) -> list[str]:
    trace, kernel = _typed(words)
    store = open_run(find_trace(trace).path)
    try:
        rows = program_rows(store.tree()["rows"])
    finally:
        store.close()
    if what == "kernels":
        return [row["name"] for row in rows if row["label"] == "kernel"]
    if kernel:
        rows = below(rows, find_kernel(rows, kernel)["id"])
    return [row["name"] for row in rows if row["kind"] == "rewrite"]


def _typed(words: list[str]) -> tuple[str | None, str]:
    """The trace and the kernel on a command line that is being typed, after its command."""
    trace, kernel = None, ""
    before = ""
    for word in words:
        if before == "--kernel":
            kernel = word
        elif trace is None and not word.startswith("--") and not before.startswith("-") and word:
            trace = word
        before = word
    return trace, kernel


def _options(command: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in command._actions:
        if action.option_strings and action.help is not argparse.SUPPRESS:
            yield action


def _takes(action: argparse.Action) -> str:
    """What the value of an option is: "kernels", "passes", "files", "choices", "value", or "" for
    an option without one."""
    if action.nargs == 0:
        return ""
    return "choices" if action.choices else _SPECIAL.get(action.dest, "value")


def _choices(action: argparse.Action) -> list[str]:
    return [str(choice) for choice in action.choices or ()]


def _help(action: argparse.Action) -> str:
    return (action.help or "") % vars(action)


def _bash() -> Iterator[str]:
    commands = commands_of(build_parser())
    yield '# completion of uopviz for bash: eval "$(uopviz completion bash)"'
    yield "_uopviz() {"
    yield "  local cur prev command IFS=$'\\n'"
    yield "  COMPREPLY=()"
    yield "  cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}"
    yield "  command=${COMP_WORDS[1]}"
    yield "  if (( COMP_CWORD == 1 )); then"
    words = " ".join([*commands, "--version", "--help"])
    yield f"    COMPREPLY=($(IFS=' ' compgen -W '{words}' -- \"$cur\"))"
    yield "    return"
    yield "  fi"
    yield '  case "$command $prev" in'
    for name, command in commands.items():
        for action in _options(command):
            kind = _takes(action)
            cases = "|".join(f'"{name} {option}"' for option in action.option_strings)
            if kind == "choices":
                found = (
                    f"COMPREPLY=($(IFS=' ' compgen -W '{' '.join(_choices(action))}' -- \"$cur\"))"
                )
            elif kind == "files":
                found = 'compopt -o filenames; COMPREPLY=($(compgen -f -- "$cur"))'
            elif kind == "value":
                found = ":"
            elif kind:
                found = f"_uopviz_names {kind}"
            else:
                continue
            yield f"    {cases}) {found}; return ;;"
    yield "  esac"
    yield "  if [[ $cur == -* ]]; then"
    yield '    case "$command" in'
    for name, command in commands.items():
        words = " ".join(option for action in _options(command) for option in action.option_strings)
        yield f"      {name}) COMPREPLY=($(IFS=' ' compgen -W '{words}' -- \"$cur\")) ;;"
    yield "    esac"
    yield "    return"
    yield "  fi"
    yield "  if [[ $command == completion ]]; then"
    yield "    COMPREPLY=($(IFS=' ' compgen -W 'bash zsh fish' -- \"$cur\"))"
    yield "    return"
    yield "  fi"
    yield "  compopt -o filenames"
    yield '  COMPREPLY=($(compgen -d -- "$cur"; compgen -f -X \'!*.@(viz|html)\' -- "$cur"))'
    yield "  [[ $cur == */* ]] || _uopviz_names traces"
    yield "}"
    yield "_uopviz_names() {"
    yield "  local name"
    yield "  while IFS= read -r name; do"
    yield '    [[ $name == "$cur"* ]] && COMPREPLY+=("$(printf %q "$name")")'
    yield '  done < <(uopviz _complete "$1" -- "${COMP_WORDS[@]:2}" 2>/dev/null)'
    yield "}"
    yield "shopt -s extglob"
    yield "complete -F _uopviz uopviz"


def _zsh() -> Iterator[str]:
    commands = commands_of(build_parser())
    yield "#compdef uopviz"
    yield "# completion of uopviz for zsh: save as _uopviz in a folder of $fpath, or eval it"
    yield "_uopviz_names() {"
    yield "  local -a names"
    yield "  # zsh puts options of compadd before what is asked for"
    yield '  names=("${(@f)$(command uopviz _complete ${@[-1]} -- ${line_typed[@]} 2>/dev/null)}")'
    yield "  names=(${names:#})"
    yield '  compadd "${@[1,-2]}" -a names'
    yield "}"
    yield "_uopviz_trace() {"
    yield "  _alternative 'traces:recent trace:_uopviz_names traces' \\"
    yield "    'files:trace or exported file:_files -g \"*.(viz|html)\"'"
    yield "}"
    yield "_uopviz() {"
    yield "  local -a line_typed"
    yield "  line_typed=(${words[3,-1]})"
    yield "  if (( CURRENT == 2 )); then"
    yield "    local -a commands"
    yield "    commands=("
    for name, command in commands.items():
        yield f"      {_quoted(f'{name}:{command.description}')}"
    yield "    )"
    yield "    _describe command commands"
    yield "    return"
    yield "  fi"
    yield "  local command=$words[2]"
    yield "  shift words; (( CURRENT-- ))"
    yield "  case $command in"
    for name, command in commands.items():
        yield f"    {name})"
        yield "      _arguments \\"
        for action in _options(command):
            kind = _takes(action)
            for option in action.option_strings:
                text = _help(action).replace("[", "(").replace("]", ")").replace(":", " -")
                spec = f"{'*' if action.dest == 'kernel' else ''}{option}[{text}]"
                if kind:
                    spec += f":{action.metavar or action.dest}:{_zsh_value(kind, action)}"
                yield f"        {_quoted(spec)} \\"
        first = "1:shell:(bash zsh fish)" if name == "completion" else "1:trace:_uopviz_trace"
        yield f"        {_quoted(first)} \\"
        yield "        '*: :'"
        yield "      ;;"
    yield "  esac"
    yield "}"
    yield 'if [[ $funcstack[1] == _uopviz ]]; then _uopviz "$@"; else compdef _uopviz uopviz; fi'


def _zsh_value(kind: str, action: argparse.Action) -> str:
    return {
        "choices": f"({' '.join(_choices(action))})",
        "files": "_files",
        "value": " ",
    }.get(kind, f"_uopviz_names {kind}")


def _fish() -> Iterator[str]:
    commands = commands_of(build_parser())
    yield "# completion of uopviz for fish: uopviz completion fish | source"
    yield "function __uopviz_names"
    yield "  set -l typed (commandline -opc)"
    yield "  command uopviz _complete $argv[1] -- $typed[3..-1] 2>/dev/null"
    yield "end"
    yield "function __uopviz_is"
    yield "  set -l typed (commandline -opc)"
    yield '  test (count $typed) -ge 2; and test "$typed[2]" = $argv[1]'
    yield "end"
    yield "function __uopviz_first"
    yield "  test (count (commandline -opc)) -eq 1"
    yield "end"
    yield "complete -c uopviz -f"
    for name, command in commands.items():
        said = _quoted(command.description or "")
        yield f"complete -c uopviz -n __uopviz_first -a {name} -d {said}"
        where = f"complete -c uopviz -n '__uopviz_is {name}'"
        for action in _options(command):
            names = [
                f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}"
                for option in action.option_strings
            ]
            value = {
                "": "",
                "choices": f" -x -a {_quoted(' '.join(_choices(action)))}",
                "files": " -r -F",
                "value": " -x",
            }.get(_takes(action), f" -x -a '(__uopviz_names {_takes(action)})'")
            yield f"{where} {' '.join(names)}{value} -d {_quoted(_help(action))}"
        if name == "completion":
            yield f"{where} -a 'bash zsh fish'"
        else:
            yield f"{where} -a '(__uopviz_names traces)'"
            yield f"{where} -a '(__fish_complete_suffix .viz; __fish_complete_suffix .html)'"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


_SCRIPTS: Final[dict[str, Callable[[], Iterator[str]]]] = {
    "bash": _bash,
    "zsh": _zsh,
    "fish": _fish,
}
