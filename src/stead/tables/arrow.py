"""Arrow, the format that every file and dataframe passes through; the one place where the untyped library enters."""

from __future__ import annotations

import pyarrow as pa  # type: ignore[import-untyped]
from pyarrow import compute, csv, feather, parquet

__all__ = ["compute", "csv", "feather", "pa", "parquet"]
