"""Records as stead keeps them: values and missing codes as they are in memory, in Parquet, column by place.

Names and levels stay in the schema beside the file, so a stored file means nothing without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stead.errors import InputRefused, shorten
from stead.tables.arrow import pa, parquet
from stead.tables.records import Records, Values

if TYPE_CHECKING:
    from pathlib import Path

    from stead.tables.schema import Schema


def write_stored(records: Records, path: Path) -> None:
    """Write values (`v0`, `v1`, ...) and, where there are gaps, missing codes (`m0`, ...)."""
    arrays = {"rows": pa.array(np.zeros(records.rows, np.int8))}
    for place, name in enumerate(records.names):
        arrays[f"v{place}"] = pa.array(records[name].values)
        if records[name].gaps:
            arrays[f"m{place}"] = pa.array(records[name].missing)
    parquet.write_table(pa.table(arrays), path, write_page_checksum=True)


def read_stored(path: Path, schema: Schema) -> Records:
    """Read what `write_stored` wrote."""
    try:
        table = parquet.read_table(path, page_checksum_verification=True)
    except (pa.ArrowException, OSError):
        table = None
    if table is None:
        raise InputRefused("E-FILE-BROKEN", f"{shorten(path.name)}: is damaged")
    columns = {}
    for place, name in enumerate(schema.carried):
        values = np.array(table.column(f"v{place}"))
        has_gaps = f"m{place}" in table.column_names
        columns[name] = (
            Values(values, np.array(table.column(f"m{place}"))) if has_gaps else Values.complete(values)
        )
    return Records(schema, columns, table.num_rows)
