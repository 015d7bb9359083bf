"""The page of reference of the Python package, from its sources: signatures, docstrings, attributes."""
import ast
import re
import runpy

from commands import listed


def homes(package):
    """Public names by the module that holds them: _HOMES of the package, which loads nothing else of it."""
    return runpy.run_path(str(package / "__init__.py"), run_name="headway")["_HOMES"]


def about(node):
    """A docstring; a paragraph of "name: meaning" is a list, with further arguments behind a full stop."""
    names = [each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg)] \
        if isinstance(node, ast.FunctionDef) else []
    further = r"(?<=\.) (?=(?:%s): )" % "|".join(map(re.escape, names)) if names else r"(?!)"
    out = ""
    for paragraph in (ast.get_docstring(node) or "").split("\n\n"):
        if not re.match(r"[a-z_][a-z0-9_]*: ", paragraph):
            out += paragraph + "\n\n"
            continue
        pieces = re.split(r"\n(?=[a-z_][a-z0-9_]*: )|" + further, paragraph)
        out += listed([(name, " ".join(text.split())) for name, _, text in
                       (piece.partition(": ") for piece in pieces)])
    return out


def signature(node):
    given = ast.unparse(node.args)
    result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    whole = f"{node.name}({given}){result}"
    if len(whole) > 90:  # an argument a line: commas inside brackets part none
        depth, broken = 0, ""
        for letter in given:
            depth += letter in "[({"
            depth -= letter in "])}"
            broken += ",\n   " if letter == "," and depth == 0 else letter
        whole = f"{node.name}(\n    {broken}\n){result}"
    return f"```python\n{whole}\n```\n\n"


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
    return listed([(name, text) for _, name, text in sorted(rows)])


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
                  if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node) and
                  (node.name in names[module] or
                   isinstance(node, ast.ClassDef) and module == "_commands")]  # what its functions give
        public.sort(key=lambda node: isinstance(node, ast.ClassDef))
        title = (ast.get_docstring(tree) or module).split("\n")[0].rstrip(".")
        out += f"## {title.split('. ')[0]}\n\n" + "".join(described(node, text.split("\n")) for node in public)
    return out
