"""What MkDocs does not know of the documents: pages that are made while the site is, and links that lead out
of docs/. Under the heading "Python" of docs/README.md stands the reference of the package of apps/python as
well. HEADWAY names the program that is asked."""
import os
import pathlib
import re

import commands
import dialect
import links
import python_api
from mkdocs.structure.files import File, InclusionLevel

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = ROOT / "apps" / "python" / "package" / "headway"

program = commands.Program(os.environ["HEADWAY"])
made = {}  # what is made here: text by path in the site's sources


def documents():
    return [str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs").rglob("*.md"))]


def navigation():
    """The headings of docs/README.md, with the links of their tables; reference after the commands."""
    out = [{"Home": "README.md"}]
    for part in (ROOT / "docs" / "README.md").read_text().split("\n## ")[1:]:
        heading, _, body = part.partition("\n")
        pages = []
        for title, link in re.findall(r"^\| \[([^\]]+)\]\(([^)]+)\)", body, re.MULTILINE):
            path = links.resolved(link, "docs/README.md")
            pages.append({title: links.place(path, (ROOT / path).is_dir())})
        if heading == "Commands":
            names = [name for name, _ in commands.commands(program)]
            pages.append({"Reference": [{"headway " + name: f"reference/{name}.md"} for name in names]})
        if heading == "Python" and PACKAGE.exists():
            pages.append({"Reference": "reference/python.md"})
        out.append({heading: pages})
    return out


def on_config(config):
    config.nav = navigation()
    return config


def on_files(files, config):
    made.clear()
    for name, _ in commands.commands(program):
        made[f"reference/{name}.md"] = commands.page(program, name, ROOT)
    if PACKAGE.exists():
        made["reference/python.md"] = python_api.page(PACKAGE)
    outside = links.linked_outside([*documents(), "README.md"], ROOT)
    outside["README.md"] = False
    for path, is_folder in sorted(outside.items()):
        if is_folder:
            made[links.place(path, True)] = links.folder_page(path, ROOT)
            for each in links.files_of(path, ROOT):
                if links.place(each, False) not in files.src_uris:
                    files.append(File.generated(config, links.place(each, False), abs_src_path=str(ROOT / each)))
        elif path.endswith(".md"):
            made[links.place(path, False)] = (ROOT / path).read_text()
        elif links.place(path, False) not in files.src_uris:
            files.append(File.generated(config, links.place(path, False), abs_src_path=str(ROOT / path)))
    listed = set(re.findall(r"'([^']+\.md)'", repr(config.nav)))
    for path, text in made.items():
        file = File.generated(config, path, content=text)
        if path not in listed:  # reached by links
            file.inclusion = InclusionLevel.NOT_IN_NAV
        files.append(file)
    for name in ("style.css", "favicon.svg"):
        files.append(File.generated(config, name, abs_src_path=str(HERE / name)))
    return files


def on_page_markdown(markdown, page, config, files):
    here = page.file.src_uri
    if here == "README.md":  # its tables are the navigation
        page.meta["hide"] = ["navigation"]
    origin = here.removeprefix("source/") if here.startswith("source/") else f"docs/{here}"
    if here in made and not here.startswith("source/"):
        return markdown
    if here.endswith("/index.md") and here in made:  # a folder's list
        return markdown
    return dialect.adapted(links.rewritten(markdown, origin, here, ROOT))
