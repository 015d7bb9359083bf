"""What Markdown is elsewhere and not to Python-Markdown."""
import re

COMMENT = re.compile(r"<!--.*?-->")
ITEM = re.compile(r"(?:[-*+]|\d+\.) +")


def adapted(text):
    """Comments, which would keep the table or list under them from being one, are gone; what belongs to an
    item of a list stands four columns in, however wide its mark is, and ends with an empty line where it has
    several paragraphs."""
    out = []
    fenced = False
    width = 0  # of the mark of the item that lines belong to; 0: none
    several = False  # paragraphs, in that item
    for line in text.split("\n"):
        if line.startswith("```"):
            fenced = not fenced
            width = 0
        if fenced:
            out.append(line)
            continue
        item = ITEM.match(line)
        if item:
            if width and several and out[-1]:
                out.append("")
            width, several = item.end(), False
        elif line.strip() and not line.startswith(" " * width):
            width = 0
        elif width:
            several = several or not line.strip()
            line = "    " + line[width:] if line.strip() else line
        out.append(line if line.startswith("    ") and not width else COMMENT.sub("", line))
    return "\n".join(out)
