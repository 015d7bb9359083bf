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
           "infer": ("Serving", "best"), "design": ("Design", "points")}


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


def fields_class(name, base, fields):
    out = f"class {name}({base}, total=False):\n"
    body = ""
    for each, schema in fields.items():
        body += comment(schema.get("description", ""), "    ")
        body += f"    {argument(each)}: {given_kind(each, schema)}\n"
    return out + (body or "    pass\n") + "\n\n"


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


def function(command, help_text, asked):
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
    lines += ["", f"Arguments are the fields of {command.capitalize()}Fields, the flags of"
              f" `headway {command}`:", ""]
    for each, schema in asked.items():
        if schema.get("operand") and each == "files":
            continue
        lines += textwrap.wrap(f"{argument(each)}: {' '.join(schema.get('description', '').split())}", 96,
                               subsequent_indent="    ")
    out += '    r"""' + "\n    ".join(line.replace('"""', "'''") for line in lines).replace("    \n", "\n")
    out += '\n    """\n'
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


def main():
    commands = json.load(sys.stdin)["commands"]
    asked = {name: members(both["request"]) for name, both in commands.items()}
    common = {each: schema for each, schema in asked["predict"].items()
              if asked["plan"].get(each) == schema and asked["scale"].get(each) == schema}
    text = HEAD + fields_class("RunFields", "TypedDict", common)
    for command, both in commands.items():
        own = {each: schema for each, schema in asked[command].items() if common.get(each) != schema}
        takes_run = all(each in asked[command] for each in common)
        text += fields_class(command.capitalize() + "Fields", "RunFields" if takes_run else "TypedDict",
                             own if takes_run else asked[command])
    for command, both in commands.items():
        text += result_class(command, both["response"], "plot" in asked[command])
    for command, both in commands.items():
        text += function(command, both["request"]["description"], asked[command])
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
