"""What all tests share: the same examples on every run, and the data sets with published answers."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "same",
    derandomize=True,
    deadline=None,
    max_examples=100,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("same")


@pytest.fixture(scope="session")
def known() -> Path:
    """The folder of data sets whose answers are known from elsewhere; they are not ours to give away."""
    folder = Path(__file__).resolve().parents[1].parent / "shared" / "known"
    if not folder.is_dir():
        pytest.skip("the folder ../shared/known with the published data sets is not here")
    return folder
