"""Pages of reference: what `headway COMMAND --help` says, and the members of its answer by data/schema."""
import html
import json
import re
import subprocess


class Program:
    def __init__(self, path):
        self.path = path

    def says(self, *arguments):
        return subprocess.run([self.path, *arguments], check=True, capture_output=True, text=True).stdout


def sections(text):
    """What stands under each heading of a help text: {heading: [line]}; "" before the first."""
    out = {"": []}
    heading = ""
    for line in text.split("\n"):
        if re.match(r"[A-Z][^:]*:$", line):
            heading = line[:-1]
            out[heading] = []
        else:
            out[heading].append(line)
    return out


def entries(lines):
    """Pairs of a name and what it means, of lines in two columns, the second from the 31st character on."""
    out = []
    for at, line in enumerate(lines):
        if not line.strip():
            continue
        if line.startswith(" " * 30):
            out[-1][1].append(line.strip())
        elif (len(line) > 30 and line[29] == " " and line[30] != " " and
              not (at + 1 < len(lines) and lines[at + 1].startswith(" " * 30))):
            out.append((line[:30].strip(), [line[30:].strip()]))
        else:
            out.append((line.strip(), []))
    return [(name, " ".join(meaning)) for name, meaning in out]


def flagged(text):
    """Text with flags, and what is quoted as code, as code, which no line breaks."""
    return re.sub(r"`([^`]+)`|(?<!\S)(--[a-z][a-z-]*)", lambda found: f"<code>{found[1] or found[2]}</code>",
                  html.escape(text))


def listed(pairs):
    """A definition list, as HTML: names and meanings are text and no Markdown."""
    rows = "".join(f"<dt><code>{html.escape(name)}</code></dt><dd>{flagged(meaning)}</dd>\n"
                   for name, meaning in pairs)
    return f'<dl class="flags">\n{rows}</dl>\n\n' if pairs else ""


def command_text(program, words, level):
    """A command, and those under it."""
    found = sections(program.says(*words, "--help"))
    about, usage = found.pop("")[:2]
    out = f"{'#' * level} headway {' '.join(words)}\n\n{about[:1].upper() + about[1:]}.\n\n"
    out += f"    {usage.removeprefix('Usage: ')}\n\n"
    for name in ("Example", "Examples"):
        if name in found:
            code = "\n".join("  " + line for line in found.pop(name)).rstrip()
            out += f"**{name}**\n\n{code}\n\n"
    below = entries(found.pop("Subcommands", []))
    for name, lines in found.items():
        out += f"**{name}**\n\n" + listed(entries(lines))
    out += "".join(command_text(program, [*words, name], 2) for name, _ in below)
    return out


def commands(program):
    """Names and what they are for."""
    return entries(sections(program.says("--help"))["Subcommands"])


def kind(schema):
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return " or ".join(json.dumps(each) for each in schema["enum"])
    words = schema.get("type", "any value")
    words = [words] if isinstance(words, str) else words
    return " or ".join({"array": "list", "null": "null"}.get(word, word) for word in words)


def members(schema, definitions, path="", above=()):
    """Rows of the members of a document: path, kind, description."""
    name = schema.get("$ref", "").rsplit("/", 1)[-1]
    if name:
        if name in above:
            return
        schema = {**definitions[name], **{key: schema[key] for key in schema if key != "$ref"}}
        above = (*above, name)
    for form in schema.get("anyOf", []) + schema.get("oneOf", []):
        yield from members(form, definitions, path, above)
    for key, each in schema.get("properties", {}).items():
        there = f"{path}.{key}" if path else key
        target = definitions.get(each.get("$ref", "").rsplit("/", 1)[-1], {})
        whole = {**target, **each}
        items = whole.get("items", {})
        if whole.get("type") == "array" or (isinstance(whole.get("type"), list) and "array" in whole["type"]):
            there += "[]"
        yield there, "layout, as a run has it" if key == "layout" and not target else kind(whole), \
            whole.get("description", "")
        yield from members(each, definitions, there, above)
        if items:
            yield from members(items, definitions, there, above)


def answer_text(schema):
    """The document that --json prints, form by form."""
    definitions = schema.get("$defs", {})
    forms = schema.get("anyOf", schema.get("oneOf", [schema]))
    out = f"## The document (`--json`)\n\n{schema.get('description', '')}\n\n"
    for form in forms:
        name = form.get("$ref", "").rsplit("/", 1)[-1]
        about = definitions.get(name, form).get("description", "") if name else ""
        if len(forms) > 1:
            out += f"### {name.replace('_', ' ') or 'A form'}\n\n"
            out += f"{about[:1].upper() + about[1:]}.\n\n" if about else ""
        rows = dict((path, (what, meaning)) for path, what, meaning in reversed(list(members(form, definitions))))
        out += listed([(path, f"{what}{': ' + meaning if meaning else ''}")
                       for path, (what, meaning) in reversed(rows.items())])
    return out


def page(program, name, root):
    text = command_text(program, [name], 1)
    schema = root / "data" / "schema" / f"{name}.json"
    if schema.exists():
        text += answer_text(json.loads(schema.read_text()))
    return text
