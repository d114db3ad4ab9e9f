"""Text of a file that was read byte by byte as Latin-1, turned into the letters that it means.

A file declares its encoding, or it is given, or it is UTF-8; text that does not fit is refused. The libraries that
read these files guess, or drop half a letter at the end of a cell without a word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stead.errors import InputRefused, UsageError, shorten
from stead.tables.arrow import compute as pc
from stead.tables.arrow import pa
from stead.tables.structure import codec_of

if TYPE_CHECKING:
    from collections.abc import Iterable

USUAL = "utf-8"


class Letters:
    """The encoding of a file, and the texts that are read by it."""

    def __init__(self, declared: str | None, given: str, where: str) -> None:
        """`given` by the caller goes before `declared` by the file, unless it is the usual one; None is text that is read already."""
        self.where = where
        self.codec = codec_of(given)
        self.raw = declared is not None
        if self.codec == USUAL and declared:
            try:
                self.codec = codec_of(declared)
            except UsageError:
                declared = ""
            if not declared:
                raise InputRefused(
                    "E-ENCODING",
                    f"{where}: declares an encoding that is not known; name the right one with encoding=",
                )

    def plain(self, text: str) -> str:
        """A name or a label."""
        decoded = self._decoded(text)
        if decoded is None:
            raise self._refusal("some of its names or labels are")
        return decoded

    def all(self, texts: Iterable[str]) -> list[str]:
        """Names or labels."""
        return [self.plain(text) for text in texts]

    def column(self, name: str, cells: pa.ChunkedArray) -> pa.ChunkedArray:
        """A column; each different text is decoded once."""
        if not self.raw or pc.all(pc.string_is_ascii(cells)).as_py() is not False:
            return cells
        coded = cells.combine_chunks().dictionary_encode()
        coded = coded.combine_chunks() if isinstance(coded, pa.ChunkedArray) else coded
        decoded = [self._decoded(text) for text in coded.dictionary.to_pylist()]
        wrong = [place for place, text in enumerate(decoded) if text is None]
        if wrong:
            count = int(np.isin(np.asarray(coded.indices.fill_null(-1)), wrong).sum())
            raise self._refusal(f"column {shorten(name)}: {count:,} cells are")
        return pa.chunked_array([pa.array(decoded, pa.string()).take(coded.indices)])

    def _decoded(self, text: str) -> str | None:
        if not self.raw or text.isascii():
            return text
        try:
            return text.encode("latin-1").decode(self.codec)
        except UnicodeError:
            return None

    def _refusal(self, what: str) -> InputRefused:
        return InputRefused(
            "E-ENCODING",
            f'{self.where}: {what} not {self.codec}; name the encoding, encoding="latin-1" or "cp1252" for example',
        )
