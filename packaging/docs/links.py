"""Where a file of the repository stands in the site, and links that lead there.

Documents keep their places. Other Markdown files that are linked stand below source/, files of other
kinds are offered there as they are, and a folder is a page that lists its files.
"""
import posixpath
import re

LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\]|!\[[^\]]*\]\([^)]*\))*\]\()([^)\s]+)(\))")
FENCE = re.compile(r"^ *```")


def resolved(link, page):
    """The path in the repository that a link of a page (its path there) means; None: of another kind."""
    if re.match(r"[a-z]+:|#|/", link):
        return None
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), link.split("#")[0]))


def place(path, is_folder):
    """The path in the site's sources of a path in the repository."""
    if path == "docs" or path.startswith("docs/"):
        inside = path[len("docs/"):]
        return "README.md" if is_folder else inside
    return f"source/{path}/index.md" if is_folder else f"source/{path}"


def prose(text, change):
    """The text with every line outside fences and indented code changed."""
    fenced = False
    out = []
    for line in text.split("\n"):
        if FENCE.match(line):
            fenced = not fenced
        out.append(line if fenced or line.startswith("    ") else change(line))
    return "\n".join(out)


def links_of(text):
    found = []
    prose(text, lambda line: found.extend(_targets(line)) or line)
    return found


def _targets(line):
    for match in LINK.finditer(line):
        yield match[2]
        yield from _targets(match[1])  # a picture that is a link


def rewritten(text, page, here, root):
    """The text of a page with links that hold in the site. page: its path in the repository; here: in the
    site's sources; root: the repository. What is not there is left as it is, for MkDocs to say."""
    def one(match):
        label = LINK.sub(one, match[1][:-2]) + match[1][-2:] if "](" in match[1][:-2] else match[1]
        path = resolved(match[2], page)
        if path is None or path.startswith("..") or not (root / path).exists():
            return label + match[2] + match[3]
        target = posixpath.relpath(place(path, (root / path).is_dir()), posixpath.dirname(here) or ".")
        anchor = match[2].partition("#")[2]
        return label + target + ("#" + anchor if anchor else "") + match[3]

    return prose(text, lambda line: LINK.sub(one, line))


def linked_outside(documents, root):
    """Paths in the repository outside docs/ that documents, and what they lead to, link to: {path: is_folder}.
    documents: paths in the repository."""
    found = {}
    waiting = list(documents)
    while waiting:
        page = waiting.pop()
        for link in links_of((root / page).read_text()):
            path = resolved(link, page)
            if path is None or path.startswith(("..", "docs/")) or path in found or path == "docs":
                continue
            if (root / path).exists():
                found[path] = (root / path).is_dir()
                if path.endswith(".md"):
                    waiting.append(path)
    return found


def files_of(folder, root):
    return sorted(str(path.relative_to(root)) for path in (root / folder).iterdir() if path.is_file())


def folder_page(folder, root):
    names = [posixpath.basename(path) for path in files_of(folder, root)]
    return f"# {folder}/\n\n" + "".join(f"- [{name}]({name})\n" for name in names)
