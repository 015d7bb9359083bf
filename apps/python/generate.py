"""Writes apps/python/package/headway/_commands.py: a function for each command, with its arguments and
what it gives as types, from the schemas on the standard input.

    headway list schemas | python3 apps/python/generate.py           renews it
    headway list schemas | python3 apps/python/generate.py --check   says whether it is as it would be
"""
import json
import keyword
import pathlib
import sys
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
TARGET = HERE / "package" / "headway" / "_commands.py"

# What each command gives: the class, and the member that is its table.
RESULTS = {"predict": ("Forecast", None), "plan": ("Plan", "best"), "comms": ("Communication", "calls"),
           "advise": ("Advice", "changes"), "scale": ("Scaling", "series"), "limits": ("Limits", "settings"),
           "validate": ("Validation", "groups"), "list": ("Listing", None), "bench": ("Bench", None),
           "calibrate": ("Calibration", None), "simulate": ("Simulation", "stages"),
           "infer": ("Serving", "best"), "design": ("Design", "points"),
           "jobs": ("Jobs", "policies")}


def argument(name):
    name = name.replace("-", "_")
    return name + "_" if keyword.iskeyword(name) else name


def kind_of(schema):
    """What may be given, as a type."""
    if "anyOf" in schema:
        kinds = []
        for each in schema["anyOf"]:
            kind = kind_of(each)
            if kind not in kinds:
                kinds.append(kind)
        return "Union[%s]" % ", ".join(kinds) if len(kinds) > 1 else kinds[0]
    if "enum" in schema:
        names = [name for name in schema["enum"] if isinstance(name, str)]
        few = len(names) <= 12 and len(names) == len(schema["enum"])
        return "Literal[%s]" % ", ".join(map(json.dumps, names)) if few else "str"
    if "const" in schema:
        return "str"
    kind = schema.get("type")
    if isinstance(kind, list):
        return "Union[%s]" % ", ".join(kind_of({"type": each}) for each in kind)
    if kind == "array":
        return "Sequence[%s]" % kind_of(schema.get("items", {}))
    return {"string": "str", "number": "float", "integer": "int", "boolean": "bool", "null": "None",
            "object": "Mapping[str, Any]"}.get(kind, "Any")


def given_kind(name, schema):
    if name in ("model", "cluster", "far-cluster"):
        return "Described"
    if name == "calibration":
        return "Described"
    if schema.get("operand") and name == "files":
        return "Union[Path, Sequence[Path]]"
    return kind_of(schema)


def members(schema):
    """Every member of a request, of whichever of its forms."""
    out = {}
    for form in schema.get("oneOf", [schema]):
        for name, each in form.get("properties", {}).items():
            known = out.setdefault(name, dict(each))
            if "const" in each:
                known.setdefault("words", []).append(each["const"])
    for each in out.values():
        if "words" in each:
            each.pop("const", None)
            each["enum"] = each.pop("words")
            each["selector"] = True
    return out


def answered_kind(schema, definitions):
    if "$ref" in schema:
        return answered_kind(definitions[schema["$ref"].rsplit("/", 1)[1]], definitions)
    if "anyOf" in schema or "oneOf" in schema:
        kinds = []
        for each in schema.get("anyOf", schema.get("oneOf")):
            kind = answered_kind(each, definitions)
            if kind not in kinds:
                kinds.append(kind)
        return "Union[%s]" % ", ".join(kinds) if len(kinds) > 1 else kinds[0]
    kind = schema.get("type")
    if isinstance(kind, list):
        return "Union[%s]" % ", ".join(answered_kind({"type": each}, definitions) for each in kind)
    return {"string": "str", "number": "float", "integer": "int", "boolean": "bool", "null": "None",
            "array": "Records", "object": "Record"}.get(kind, "Any")


def attributes(schema, definitions):
    """The members of every form of an answer."""
    if "$ref" in schema:
        return attributes(definitions[schema["$ref"].rsplit("/", 1)[1]], definitions)
    out = {}
    for each in schema.get("anyOf", schema.get("oneOf", [])):
        for name, found in attributes(each, definitions).items():
            out.setdefault(name, found)
    for name, each in schema.get("properties", {}).items():
        out[name] = (answered_kind(each, definitions), each.get("description", ""))
    return out


def comment(text, indent):
    lines = textwrap.wrap(" ".join(text.split()), 100 - len(indent))
    return "".join(f"{indent}#: {line}\n" for line in lines)


def listed(fields, indent):
    """A line or more for each: its name, and what it means."""
    out = []
    for each, schema in fields.items():
        meaning = " ".join(schema.get("description", "").split())
        out += textwrap.wrap(f"{argument(each)}: {meaning}", 100 - len(indent), initial_indent=indent,
                             subsequent_indent=indent + "    ")
    return "\n".join(out)


def fields_class(name, bases, title, fields):
    out = f"class {name}({', '.join(bases)}, total=False):\n"
    out += f'    """{title}\n\n{listed(fields, "    ")}\n    """\n\n' if fields else f'    """{title}"""\n\n'
    for each, schema in fields.items():
        out += f"    {argument(each)}: {given_kind(each, schema)}\n"
    return out.rstrip("\n") + "\n\n\n"


def result_class(command, schema, draws):
    name, rows = RESULTS[command]
    base = "Predicted" if command == "predict" else "Result"
    title = schema.get("description", "").strip()
    out = f"class {name}({base}):\n"
    out += f'    """What {command} gives.{" " + title if title else ""}"""\n\n'
    out += "    __slots__ = ()\n"
    out += f"    command = {json.dumps(command)}\n"
    if rows:
        out += f"    _rows = {json.dumps(rows)}\n"
    if draws:
        out += "    _plots = True\n"
    found = attributes(schema, schema.get("$defs", {}))
    if found:
        out += "    if TYPE_CHECKING:\n"
    for each, (kind, description) in found.items():
        if argument(each).isidentifier():
            out += comment(description, "        ") + f"        {argument(each)}: {kind}\n"
    return out + "\n\n"


def function(command, help_text, asked, classes):
    name = RESULTS[command][0]
    selectors = [each for each, schema in asked.items() if schema.get("selector")]
    words = [w for s in selectors for w in asked[s]["enum"]]
    operands = [each for each, schema in asked.items() if schema.get("operand")]
    positional = "*operands: Operand, " if operands or selectors else ""
    out = f"def {command}({positional}progress: Progress = None, threads: int = 0,\n"
    out += " " * (5 + len(command)) + f"**fields: Unpack[{command.capitalize()}Fields]) -> {name}:\n"
    doc = help_text[0].upper() + help_text[1:] + "."
    lines = textwrap.wrap(doc, 96)
    if operands:
        lines += [""] + textwrap.wrap(f"operands: {asked[operands[0]]['description']}.", 96)
    if words:
        lines += [""] + textwrap.wrap(f"The first operand may be {', '.join(words)}.", 96)
    lines += ["", "Arguments are the fields of " + " and ".join(classes) + f", the flags of `headway {command}`."]
    out += '    """' + "\n    ".join(lines).replace("    \n", "\n") + '\n    """\n'
    selector = json.dumps(selectors[0]) if selectors else "None"
    operand = json.dumps(operands[0]) if operands else "None"
    arguments = "operands" if positional else "()"
    out += f"    return ask({name}, fields, progress, threads, {arguments}, {operand}, {selector},\n"
    out += f"               {tuple(words)!r})\n\n\n"
    return out


HEAD = '''"""The commands as functions. Written by apps/python/generate.py."""
from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal, Mapping, Sequence, TypedDict, Union

from ._ask import Progress
from ._call import Predicted, ask
from ._results import Record, Records, Result

if TYPE_CHECKING:
    from typing_extensions import Unpack

Path = Union[str, "os.PathLike[str]"]
#: A name, a file, or what a file would say.
Described = Union[str, "os.PathLike[str]", Mapping[str, Any]]
Operand = Union[str, "os.PathLike[str]"]


'''


def shared_by(asked, first, *others):
    """The fields that several commands take alike."""
    return {each: schema for each, schema in asked[first].items()
            if all(asked[other].get(each) == schema for other in others)}


def main():
    commands = json.load(sys.stdin)["commands"]
    asked = {name: members(both["request"]) for name, both in commands.items()}
    shared = {"RunFields": ("What a run of training is asked by.", shared_by(asked, "predict", "plan", "scale"))}
    shared["ServingFields"] = ("What serving is asked by.",
                               {each: schema for each, schema in shared_by(asked, "infer", "design").items()
                                if shared["RunFields"][1].get(each) != schema})
    text = HEAD
    for name, (title, fields) in shared.items():
        text += fields_class(name, ["TypedDict"], title, fields)
    bases = {}
    for command, fields in asked.items():
        bases[command] = [name for name, (_, of) in shared.items()
                          if all(fields.get(each) == schema for each, schema in of.items())]
        own = {each: schema for each, schema in fields.items()
               if not any(shared[name][1].get(each) == schema for name in bases[command])}
        text += fields_class(command.capitalize() + "Fields", bases[command] or ["TypedDict"],
                             f"What `{command}` is asked by" + (" besides." if bases[command] else "."), own)
    for command, both in commands.items():
        text += result_class(command, both["response"], "plot" in asked[command])
    for command, both in commands.items():
        text += function(command, both["request"]["description"], asked[command],
                         [command.capitalize() + "Fields", *bases[command]])
    names = ", ".join(RESULTS[command][0] for command in commands)
    text += "_RESULTS = {result.command: result for result in (\n"
    text += "\n".join(textwrap.wrap(names, 96, initial_indent="    ", subsequent_indent="    ")) + ")}\n\n\n"
    text += '''def restored(command: str, text: str, request: str, exit_code: int) -> Result:
    """A result that was pickled."""
    return _RESULTS[command](text, request, exit_code)
'''
    if "--check" in sys.argv:
        if TARGET.read_text() != text:
            sys.exit(f"{TARGET} is not as {__file__} writes it; run it without --check")
        return
    TARGET.write_text(text)


main()
