"""The page of reference of the Python package, from its sources: signatures, docstrings, attributes."""
import ast
import html
import re


def homes(package):
    """Public names by the module that holds them: _HOMES of the package."""
    tree = ast.parse((package / "__init__.py").read_text())
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "_HOMES":
            return ast.literal_eval(node.value)
    return {}


def about(node):
    """A docstring; lines "name: meaning" are a list."""
    lines = (ast.get_docstring(node) or "").split("\n")
    out = []
    rows = []

    def close():
        if rows:
            out.append('<dl class="flags">\n' + "".join(
                f"<dt><code>{html.escape(name)}</code></dt><dd>{html.escape(text)}</dd>\n"
                for name, text in rows) + "</dl>\n")
            rows.clear()

    for line in lines:
        found = re.match(r"([a-z_][a-z0-9_]*): (.*)", line)
        if found:
            rows.append([found[1], found[2]])
        elif rows and line.startswith("    "):
            rows[-1][1] += " " + line.strip()
        else:
            close()
            out.append(line)
    close()
    return "\n".join(out).strip() + "\n\n"


def signature(node):
    given = f"{node.name}({ast.unparse(node.args)})"
    result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"```python\n{given}{result}\n```\n\n"


def attributes(node, lines):
    """Annotated names, with the comments `#:` before them."""
    rows = []
    for each in ast.walk(node):
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            name = each.target.id
            if name.startswith("_"):
                continue
            comment = []
            at = each.lineno - 2
            while at >= 0 and lines[at].strip().startswith("#:"):
                comment.insert(0, lines[at].strip()[2:].strip())
                at -= 1
            text = f"{ast.unparse(each.annotation)}{': ' + ' '.join(comment) if comment else ''}"
            rows.append((each.lineno, name, text))
    items = "".join(f"<dt><code>{html.escape(name)}</code></dt><dd>{html.escape(text)}</dd>\n"
                    for _, name, text in sorted(rows))
    return f'<dl class="flags">\n{items}</dl>\n\n' if rows else ""


def described(node, lines):
    if isinstance(node, ast.FunctionDef):
        return f"### {node.name}\n\n" + signature(node) + about(node)
    out = f"### {node.name}\n\n" + about(node) + attributes(node, lines)
    for each in node.body:
        if isinstance(each, ast.FunctionDef) and not each.name.startswith("_") and ast.get_docstring(each):
            out += f"#### {node.name}.{each.name}\n\n" + signature(each) + about(each)
    return out


def page(package):
    out = "# Python: reference\n\n" + about(ast.parse((package / "__init__.py").read_text()))
    names = homes(package)
    for module in names:
        path = package / f"{module}.py"
        if not path.exists():
            continue
        text = path.read_text()
        tree = ast.parse(text)
        public = [node for node in tree.body
                  if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and
                  (node.name in names[module] or
                   isinstance(node, ast.ClassDef) and not node.name.startswith("_") and module == "_commands")]
        title = (ast.get_docstring(tree) or module).split("\n")[0].rstrip(".")
        out += f"## {title.split('. ')[0]}\n\n" + "".join(described(node, text.split("\n")) for node in public)
    return out
