"""The table of refusals in docs/reference/refusals.md, read off the source; run this module to write it again."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import stead
from stead import errors

ROOT = Path(stead.__file__).parent
TARGET = ROOT.parents[1] / "docs" / "reference" / "refusals.md"
CODE = re.compile(r"^E-[A-Z0-9-]+$")
HEAD = """\
# Refusals and notices

Every message ends with one of these codes. It names files, columns, counts and line numbers, never a value of a file.
The exit code is that of a command; a notice goes on. "…" stands for a name, a count or what would be right.

| code | ends with | what it says |
|---|---|---|
"""


def _classes() -> dict[str, str]:
    """Exit code by the name of the exception."""
    found = {
        name: str(kind.exit_code)
        for name, kind in vars(errors).items()
        if getattr(kind, "exit_code", None) is not None
    }
    return found | {"Notice": "notice"}


def _text(node: ast.AST) -> str:
    """A message with its holes."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) if isinstance(part, ast.Constant) else "…" for part in node.values)
    if isinstance(node, ast.BinOp):
        return _text(node.left) + _text(node.right)
    return "…"


def table() -> str:
    """The whole document."""
    classes = _classes()
    rows: dict[str, tuple[set[str], list[str]]] = {}
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            strings = [
                place
                for place, one in enumerate(node.args)
                if isinstance(one, ast.Constant) and CODE.match(str(one.value))
            ]
            for place in strings:
                code = str(node.args[place].value)  # type: ignore[attr-defined]
                name = node.func.id if isinstance(node.func, ast.Name) else ""
                ends, texts = rows.setdefault(code, (set(), []))
                if name in classes:
                    ends.add(classes[name])
                message = _text(node.args[place + 1]) if place + 1 < len(node.args) else "…"
                if message not in texts and message.strip("… ."):
                    texts.append(message)
    lines = [
        f"| {code} | {', '.join(sorted(ends)) or '—'} | {'<br>'.join(one.replace('|', chr(92) + '|') for one in texts) or '—'} |"
        for code, (ends, texts) in sorted(rows.items())
    ]
    return HEAD + "\n".join(lines) + "\n"


if __name__ == "__main__":
    TARGET.write_text(table(), encoding="utf-8")
