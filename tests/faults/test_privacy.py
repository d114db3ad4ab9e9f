"""Threats to differential privacy, by their number in the list of threats: T1 and T5 to T10.

Write a test here for what an attacker would look for: noise that can be replayed, floats, a value that decides how a run ends.
"""

from __future__ import annotations

import ast
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stead
from stead.models import binary_dp, combinations, mechanism, multinomial_dp, private
from stead.models.mechanism import Mechanism, prior_count
from stead.privacy.audit import counts
from stead.sampling import exact, rational
from stead.tables.records import Records, Values

LEVELS = (0, 1)
SCHEMA = stead.Schema([stead.Column("Y", "binary", levels=LEVELS)])


class Unreadable(Records):
    """Records that fail when a value is asked for."""

    def __getitem__(self, name: str) -> Values:
        raise AssertionError("a value was read")


def _unreadable() -> Records:
    return Unreadable(SCHEMA, {"Y": Values.complete(np.zeros(100, np.int32))}, 100)


def test_t9_undeclared_levels_are_refused_before_a_value_is_read() -> None:
    for model in (
        stead.BinaryDP(1, column="Y"),
        stead.MultinomialDP(1, columns=["Y"]),
        stead.BinaryDP(1, column="Y", declared=(1, 0)),  # another order would turn every value round
        stead.MultinomialDP(1, columns=["Y"], declared={"Y": (0, 1, 2)}),
    ):
        for call in (model.fit, lambda records, model=model: stead.synthesize(records, model, m=1)):
            with pytest.raises(stead.InputRefused, match="declared") as refused:
                call(_unreadable())
            assert refused.value.exit_code == 3
    with pytest.raises(AssertionError, match="was read"):
        stead.BinaryDP(1, column="Y", declared=LEVELS).fit(_unreadable())


STRANGE: dict[str, Any] = {
    "nothing": None,
    "not a number": float("nan"),
    "infinity": float("inf"),
    "minus infinity": float("-inf"),
    "huge": 10**400,
    "huge, written": "1e400",
    "negative": -1,
    "between": 0.5,
    "a word": "refused",
    "bytes": b"\xff\x00",
    "a list": [1, 2],
}


@pytest.mark.parametrize("strange", STRANGE.values(), ids=STRANGE)
def test_t10_no_value_of_a_cell_decides_how_a_run_ends(strange: Any) -> None:
    cells = [0, 1] * 40
    usual = stead.read_declared({"Y": cells}, {"Y": LEVELS})
    other = stead.read_declared({"Y": [strange, *cells[1:]]}, {"Y": LEVELS})
    model = stead.BinaryDP(1, column="Y", declared=LEVELS)
    one, two = (stead.synthesize(records, model, m=2) for records in (usual, other))
    assert one.posterior is not None
    assert two.posterior is not None
    assert one.posterior.describe() == two.posterior.describe()
    for a, b in zip(one.synthetic, two.synthetic, strict=True):
        assert (a.rows, a.schema, a["Y"].gaps, a["Y"].values.dtype) == (
            b.rows,
            b.schema,
            b["Y"].gaps,
            b["Y"].values.dtype,
        )


@pytest.mark.parametrize(
    "values",
    [
        np.array([np.inf, np.nan, -np.inf, 1e300, 0.5]),
        np.array([2**62, -(2**62), 5, -1, 1]),
        np.array([2**31 - 1, 7, 1, 0, -5], np.int32),
    ],
)
def test_t10_codes_that_no_level_has_are_counted_and_move_one_count_each(values: np.ndarray) -> None:
    padded = np.concatenate([values, np.zeros(60, values.dtype)])
    records = Records(SCHEMA, {"Y": Values.complete(padded)}, len(padded))
    posterior = stead.BinaryDP(1, column="Y", declared=LEVELS).fit(records)
    assert posterior.counts.sum() == len(padded)
    assert posterior.counts[1] == int((padded == 1).sum())
    assert posterior.sets(1)[0].rows == len(padded)


def test_t10_a_record_that_breaks_a_structural_zero_is_counted_in_a_possible_cell() -> None:
    schema = stead.Schema([stead.Column(name, "binary", levels=LEVELS) for name in ("A", "B")])
    a, b = np.repeat([0, 1], 40), np.tile([0, 1], 40)
    records = stead.table({"A": a, "B": b}, schema)
    model = stead.MultinomialDP(
        1, columns=["A", "B"], declared={"A": LEVELS, "B": LEVELS}, structural_zeros=[{"A": 1, "B": 1}]
    )
    assert model.fit(records).counts.tolist() == [40, 20, 20]
    release = stead.synthesize(records, model, m=1, rows=500)
    made = release.synthetic[0]
    assert not ((made["A"].values == 1) & (made["B"].values == 1)).any()
    measured = stead.attribute_risk(release, ["A", "B"])
    assert np.isfinite(measured.per_record["probability"]).all()
    assert np.isfinite(measured.per_record["worst_factor"]).all()


def test_t7_every_output_can_come_from_both_neighbours() -> None:
    for form in ("plug-in", "drawn"):
        made = Mechanism(form, (prior_count(Fraction(1000), 3, form),) * 2, 3)
        for ones in range(4):
            assert all(made.probability([3 - ones, ones], [one]) > 0 for one in counts(3, 2))


def test_t7_both_ends_of_the_words_are_drawn_from_both_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    for word, cell in ((0, 0), (2**64 - 1, 1)):
        monkeypatch.setattr(exact, "_words", lambda count, word=word: np.full(count, word, np.uint64))
        monkeypatch.setattr(exact, "_word", lambda word=word: word)
        for x in ([5, 0], [4, 1], [0, 5]):
            made = Mechanism("plug-in", (prior_count(Fraction(2), 8, "plug-in"),) * 2, 8)
            assert (made.draw(np.array(x), 1)[0] == cell).all()


def test_t7_what_is_added_is_never_less_than_the_guarantee_needs() -> None:
    """What is added is rounded up: the exact epsilon of the rational a is at most the promised one."""
    from decimal import Context, Decimal

    fine = Context(prec=150)
    for epsilon in (0.01, 0.1, 1 / 3, 1.0, 7.3, 100.0):
        for rows in (1, 7, 1000, 10**6):
            for form in ("plug-in", "drawn"):
                a = prior_count(Fraction(epsilon), rows, form)
                power = fine.divide(Decimal(epsilon), rows) if form == "plug-in" else Decimal(epsilon)
                needed = (1 if form == "plug-in" else rows) / (Fraction(power.exp(fine)) - 1)
                assert needed <= a or a == Fraction(1, 2**256)
                assert a <= needed * (1 + Fraction(1, 2**60)) or a == Fraction(1, 2**256)


def test_t7_no_generator_and_no_float_enters_the_draws() -> None:
    """The modules between a count and a released cell: whole numbers, and `secrets`."""
    for module in (exact, rational):
        tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
        names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        assert not names & {"random", "default_rng", "normal", "float64"}
        if module is exact:
            floats = [
                node
                for node in ast.walk(tree)
                if isinstance(node, ast.Constant) and isinstance(node.value, float)
            ]
            assert floats == []
            assert not [
                node
                for node in ast.walk(tree)
                if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)
            ]
    for module in (mechanism, private, combinations, binary_dp, multinomial_dp):
        assert "numpy.random" not in Path(str(module.__file__)).read_text(encoding="utf-8")


def test_t1_noise_cannot_be_replayed() -> None:
    records = stead.table({"Y": [0, 1] * 200}, SCHEMA)
    model = stead.BinaryDP(1, column="Y", declared=LEVELS)
    sets = []
    for _ in range(2):
        np.random.seed(1)  # noqa: NPY002 - what an attacker would try
        sets.append(stead.synthesize(records, model, m=1).synthetic[0]["Y"].values)
    assert not np.array_equal(sets[0], sets[1])


def test_t6_a_search_that_looked_at_the_records_says_so(tmp_path: Path) -> None:
    records = stead.table({"Y": [0, 1] * 50}, SCHEMA)
    ledger = stead.Ledger(tmp_path)
    found = stead.reduce_epsilon(
        records,
        stead.BinaryDP(1, column="Y", declared=LEVELS),
        [3, 2, 1],
        stead.Region("RR < .01"),
        ledger=ledger,
    )
    assert len(ledger.events) == len(found.tried) == 3
    assert ledger.spent(records) == 6
    assert "not differentially private" in found.to_dict()["caveat"]
    assert found.release is None
    release = stead.synthesize(records, stead.BinaryDP(1, column="Y", declared=LEVELS), m=1)
    assert release.posterior is not None
    notes = release.posterior.describe()[0]["notes"]
    assert any("not differentially private" in note for note in notes)


def test_t5_a_release_does_not_hold_the_region(tmp_path: Path) -> None:
    """What a search returns as a release, and keeps, says nothing of the region that it was accepted in."""
    records = stead.table({"Y": [0, 1] * 50}, SCHEMA)
    found = stead.reduce_epsilon(
        records,
        stead.BinaryDP(1, column="Y", declared=LEVELS),
        [0.01],
        stead.Region("RR <= 1.2345"),
        ledger=stead.Ledger(tmp_path / "ledger"),
    )
    assert found.release is not None
    found.release.save(tmp_path / "kept")
    for folder in ("kept", "ledger"):
        for path in (tmp_path / folder).iterdir():
            assert b"1.2345" not in path.read_bytes()
    assert "1.2345" not in repr(found.release)


def test_no_message_of_a_private_model_quotes_a_level() -> None:
    secret = "QX-4711"
    schema = stead.Schema([stead.Column("Y", "binary", levels=("no", secret))])
    records = stead.table({"Y": ["no", secret] * 50}, schema)
    for call in (
        lambda: stead.BinaryDP(1, column="Y", declared=("no", "yes")).fit(records),
        lambda: stead.MultinomialDP(
            1, columns=["Y"], declared={"Y": ("no", secret)}, structural_zeros=[{"Y": "maybe"}]
        ),
        lambda: stead.BinaryDP(1, column="Y").fit(records),
    ):
        with pytest.raises(stead.SteadError) as refused:
            call()
        assert secret not in str(refused.value)
    posterior = stead.BinaryDP(1, column="Y", declared=("no", secret)).fit(records)
    assert secret not in repr(posterior)
    assert secret not in str(posterior.describe())
