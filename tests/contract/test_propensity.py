"""What pmse promises: which null it picks and why, what it refuses, what its result holds."""

from __future__ import annotations

import json
import warnings
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]

import stead
from stead.language.design import Design
from stead.utility.score_space import in_score_space

KEYS = {
    "value",
    "reference",
    "ratio",
    "z",
    "null",
    "null_why",
    "nulls",
    "k_star",
    "specks",
    "po50",
    "auc",
    "c",
}


def columns(seed: int, rows: int = 200) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=rows)
    return {"x": x, "y": x + rng.normal(size=rows), "g": rng.choice(["u", "v", "w"], rows)}


def full(m: int = 1, *, proper: bool | None = True, made_rows: int = 200) -> stead.Release:
    sets = [stead.table(columns(seed, made_rows)) for seed in range(2, m + 2)]
    return stead.Release.from_tables(
        stead.table(columns(1)), sets, synthesized=["x", "y", "g"], aligned=False, proper=proper
    )


def partial(m: int = 1, *, aligned: bool = True, proper: bool | None = True) -> stead.Release:
    """Only y differs."""
    real = columns(1)
    sets = [stead.table({**real, "y": columns(seed)["y"]}) for seed in range(2, m + 2)]
    if not aligned:
        sets = [one.take(np.random.default_rng(5).permutation(200)) for one in sets]
    return stead.Release.from_tables(
        stead.table(real), sets, synthesized=["y"], aligned=aligned, proper=proper
    )


def test_the_result_holds_the_number_its_reference_and_how_it_was_found() -> None:
    held = stead.pmse(full(3)).to_dict()
    assert set(held) >= KEYS
    json.dumps(held, allow_nan=False)
    assert held["null"] == "analytic"
    assert held["reference"] == pytest.approx(held["k_star"] * 0.25 / 400)
    assert held["ratio"] == pytest.approx(held["value"] / held["reference"])
    sd = np.sqrt(2 * held["k_star"]) * 0.25 / 400 * np.sqrt((1 + 2 * 0.25) / 3)
    assert held["z"] == pytest.approx((held["value"] - held["reference"]) / sd)
    assert held["value"] == pytest.approx(np.mean(held["per_dataset"]))
    assert len(held["per_dataset"]) == len(held["per_dataset_ratio"]) == 3
    assert list(held["nulls"]) == ["proper"]
    for key in ("specks", "po50", "auc"):
        assert held[key]["reference"] is not None
        assert len(held[key]["per_dataset"]) == 3


def test_the_lines_of_plug_in_and_proper_data_and_of_data_of_which_it_is_not_known() -> None:
    with pytest.warns(stead.Notice, match="cannot be checked"):
        plug_in = stead.pmse(full(proper=False, made_rows=600)).to_dict()
    proper = stead.pmse(full(proper=True, made_rows=600)).to_dict()
    unknown = stead.pmse(full(proper=None, made_rows=600)).to_dict()
    assert plug_in["c"] == 0.75
    assert plug_in["reference"] == pytest.approx(proper["reference"] * 0.25)
    assert set(unknown["nulls"]) == {"plug-in", "proper"}
    assert unknown["reference"] == plug_in["reference"]
    assert unknown["nulls"]["proper"]["ratio"] == pytest.approx(proper["ratio"])
    assert any("not known" in note for note in unknown["notes"])


def test_k_star_counts_terms_with_a_synthesized_column_unless_all_terms_differ() -> None:
    assert stead.pmse(partial()).details["k_star"] == 1 + 1 + 2  # y, x:y, y:g
    assert stead.pmse(partial(), order=1).details["k_star"] == 1
    assert stead.pmse(partial(aligned=False)).details["k_star"] == 4
    real = stead.table(columns(1))
    other = stead.Release.from_tables(
        real, [stead.table(columns(2, 150))], synthesized=["y"], aligned=False, proper=True
    )
    measured = stead.pmse(other)
    assert measured.details["k_star"] == 1 + 1 + 2 + 1 + 2 + 2
    assert any("kept columns differ" in note for note in measured.details["notes"])


@pytest.mark.parametrize(
    ("release", "classifier", "asked", "null"),
    [
        (full(), "logistic", None, "analytic"),
        (partial(2), "logistic", None, "analytic"),
        (full(), "logistic", "permutation", "permutation"),
        (partial(), "logistic", "permutation", "swap within pairs"),
        (full(2), "cart", None, "permutation"),
        (partial(), "cart", None, "swap within pairs"),
        (partial(3, aligned=False), "cart", None, "pairs"),
        (full(3), "logistic", "pairs", "pairs"),
    ],
)
def test_each_kind_of_data_has_its_null(
    release: stead.Release, classifier: str, asked: Any, null: str
) -> None:
    measured = stead.pmse(release, classifier=classifier, null=asked)
    assert measured.details["null"] == null
    assert measured.details["null_why"]
    assert measured.reference
    assert measured.details["ratio"] == pytest.approx((measured.value or 0) / measured.reference)


def test_the_null_of_pairs_is_eight_c2_1_c_2_times_the_mean_between_pairs() -> None:
    release = full(3, made_rows=600)
    measured = stead.pmse(release, null="pairs")
    between = [
        stead.pmse(
            stead.Release.from_tables(one, [other], synthesized=["x", "y", "g"], aligned=False, proper=True)
        ).value
        for one, other in combinations(release.synthetic, 2)
    ]
    c = 0.75
    assert measured.reference == pytest.approx(
        np.mean([one or 0 for one in between]) * 8 * c**2 * (1 - c) ** 2
    )
    assert measured.details["z"] is not None
    two = stead.pmse(full(2), null="pairs").details
    assert two["ratio"] is not None
    assert two["z"] is None
    assert "no spread" in two["null_reason"]


def test_a_null_that_cannot_be_has_a_reason_and_no_number() -> None:
    same = stead.table(columns(1))
    release = stead.Release.from_tables(same, [same], synthesized=["y"], aligned=True, proper=True)
    measured = stead.pmse(release, null="permutation").to_dict()
    assert measured["value"] == pytest.approx(0, abs=1e-20)
    assert (measured["reference"], measured["ratio"], measured["z"]) == (None, None, None)
    assert measured["null_reason"].startswith("not available, because its mean is 0")
    mixed = stead.pmse(partial(aligned=False), classifier="cart").to_dict()
    assert mixed["value"] > 0
    assert mixed["ratio"] is None
    assert mixed["null_reason"].startswith("not available, because columns were kept")
    twin = stead.table({"x": columns(1)["x"], "y": columns(1)["x"]})
    aliased = stead.Release.from_tables(twin, [twin], synthesized=["y"], aligned=True, proper=True)
    assert "combinations of the others" in stead.pmse(aliased, order=1).details["null_reason"]


def test_a_formula_that_leaves_out_a_synthesized_column_is_told() -> None:
    with pytest.warns(stead.Notice, match="does not see g, which was synthesized"):
        stead.pmse(full(), "x * y")
    assert "no synthesized column" in _quiet(partial(), "x * g").reason
    with pytest.raises(stead.UsageError, match="no column is called Y; did you mean y"):
        stead.pmse(full(), "x + Y")
    with pytest.raises(stead.UsageError, match="no response"):
        stead.pmse(full(), "y ~ x")
    with pytest.raises(stead.UsageError, match="intercept"):
        stead.pmse(full(), "x + y + g - 1")


def _quiet(release: stead.Release, formula: str) -> stead.Measurement:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stead.Notice)
        return stead.pmse(release, formula)


def test_kept_columns_left_out_and_weights_are_noted() -> None:
    notes = stead.pmse(partial(), "y").details["notes"]
    assert any("leaves out kept columns (x, g)" in note for note in notes)
    real = columns(1)
    records = stead.table({**real, "w": np.full(200, 2.5)})
    schema = records.schema.with_role("weight", "w")
    weighted = stead.Records(schema, {name: records[name] for name in records.names}, 200)
    release = stead.Release.from_tables(weighted, [weighted], synthesized=["y"], aligned=True, proper=True)
    measured = stead.pmse(release)
    assert "w" not in measured.details["formula"]
    assert any("weights in w are not used" in note for note in measured.details["notes"])


def test_a_column_that_the_sets_lack() -> None:
    made = stead.table({name: column for name, column in columns(2).items() if name != "g"})
    release = stead.Release.from_tables(
        stead.table(columns(1)), [made], synthesized=["x", "y", "g"], aligned=False, proper=True
    )
    with pytest.warns(stead.Notice, match="does not see g"):
        assert stead.pmse(release).available
    measured = stead.pmse(release, "x + y + g")
    assert measured.reason == "the synthetic sets lack g"


def test_factors_with_many_levels_do_not_freeze_it() -> None:
    rng = np.random.default_rng(0)
    real, made = ({"a": rng.integers(0, 80, 300), "b": rng.integers(0, 80, 300)} for _ in range(2))
    first = stead.table({name: [f"{v}x" for v in column] for name, column in real.items()})
    levels = {name: {f"{v}x" for v in column} for name, column in real.items()}
    second = {
        name: [f"{v}x" if f"{v}x" in levels[name] else "1x" for v in column] for name, column in made.items()
    }
    release = stead.Release.from_tables(
        first, [stead.table(second, first.schema)], synthesized=["a", "b"], aligned=False, proper=True
    )
    assert "terms, at most 1,000" in stead.pmse(release).reason
    assert stead.pmse(release, order=1).available


def test_numbers_whose_products_overflow_are_refused_without_one() -> None:
    real = {"x": np.array([1e100, 2e100, 3e100]), "y": np.array([1e80, 5e80, 2e80])}
    release = stead.Release.from_tables(
        stead.table(real), [stead.table(real)], synthesized=["x", "y"], aligned=False
    )
    with pytest.raises(stead.InputRefused, match="x:y: reaches 10"):
        stead.pmse(release)
    assert stead.pmse(release, order=1).available


@pytest.mark.parametrize("classifier", ["cart", "forest", "boosting"])
def test_the_named_classifiers(classifier: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stead.utility.propensity_fits.TIMES", 3)
    measured = stead.pmse(full(), classifier=classifier)
    assert measured.details["classifier"] == classifier
    assert measured.details["k_star"] is None
    assert measured.details["formula"] == "x + y + g"
    assert measured.available


def test_any_classifier_of_scikit_learn_and_what_is_none() -> None:
    own = stead.pmse(full(), order=1)
    theirs = stead.pmse(full(), "x + y + g", classifier=LogisticRegression(C=np.inf, tol=1e-10))
    assert theirs.value == pytest.approx(own.value, rel=1e-4)
    assert theirs.details["classifier"] == "LogisticRegression"
    with pytest.raises(stead.UsageError, match="no classifier is called cartt; did you mean cart"):
        stead.pmse(full(), classifier="cartt")
    for nothing in (None, object(), LogisticRegression):
        with pytest.raises(stead.UsageError, match="a classifier is one of logistic"):
            stead.pmse(full(), classifier=nothing)


class Failing(LogisticRegression):  # type: ignore[misc]
    """A classifier whose error quotes a value."""

    def fit(self, features: Any, labels: Any) -> Any:
        raise ValueError(f"cannot take {features[0, 0]!r}")


def test_what_a_foreign_classifier_says_is_withheld() -> None:
    with pytest.raises(stead.UsageError) as refusal:
        stead.pmse(full(), classifier=Failing())
    assert "ended with ValueError" in str(refusal.value)
    assert repr(float(columns(1)["x"][0]))[:8] not in str(refusal.value)
    assert refusal.value.__cause__ is None
    assert refusal.value.__context__ is None


def test_arguments_that_cannot_be() -> None:
    with pytest.raises(stead.UsageError, match="order is 1"):
        stead.pmse(full(), order=0)
    with pytest.raises(stead.UsageError, match="no null is called permutate; did you mean permutation"):
        stead.pmse(full(), null="permutate")  # type: ignore[arg-type]
    with pytest.raises(stead.UsageError, match="only the logistic classifier"):
        stead.pmse(full(), classifier="cart", null="analytic")
    with pytest.raises(stead.UsageError, match="need two sets"):
        stead.pmse(full(), null="pairs")


def test_the_references_of_specks_po50_and_auc_are_what_relabelled_rows_give() -> None:
    """The thinned least squares of the analytic null against logistic fits to exchanged labels."""
    for release in (full(), partial()):
        fast, slow = (stead.pmse(release, null=null).details for null in (None, "permutation"))
        for key in ("specks", "po50"):
            assert fast[key]["reference"] == pytest.approx(slow[key]["reference"], rel=0.25)
        assert fast["auc"]["reference"] - 0.5 == pytest.approx(slow["auc"]["reference"] - 0.5, rel=0.25)


SCORE_SPACE = [
    (["y ~ x"], "x * y", True),
    (["y ~ 1"], "x * y", False),
    (["y ~ x"], "y + z", True),
    (["log(y) ~ x"], "y * x", False),
    (["log(y) ~ x"], "log(y) * x", True),
    (["y ~ x", "z ~ x + y"], "(x + y + z)^2", True),
    (["y ~ x", "z ~ x"], "(x + y + z)^2", False),
    (["y ~ x", "z ~ log(y)"], "y + z", False),
    (["y ~ x"], "poly(y, 2) + x", None),
]


@pytest.mark.parametrize(("models", "classifier", "answer"), SCORE_SPACE)
def test_whether_a_classifier_lies_in_the_score_space(
    models: list[str], classifier: str, answer: bool | None
) -> None:
    rng = np.random.default_rng(3)
    records = stead.table({name: np.exp(rng.normal(size=80)) for name in "xyz"})
    posterior = stead.Sequence([stead.Linear(one) for one in models]).fit(records, draws=10, rng=1)
    assert in_score_space(Design.bind(classifier, records), posterior, records.schema) is answer
    assert in_score_space(Design.bind(classifier, records), None, records.schema) is None


def test_plug_in_data_in_the_score_space_have_one_line_and_no_notice() -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(size=150)
    real = stead.table({"x": x, "y": x + rng.normal(size=150)})
    made = stead.table({"x": x, "y": x + rng.normal(size=150)})
    posterior = stead.Linear("y ~ x", prior="flat").fit(real, draws=10, rng=1)
    release = stead.Release.from_tables(
        real, [made], synthesized=["y"], aligned=True, proper=False, posterior=posterior
    )
    assert list(stead.pmse(release).details["nulls"]) == ["plug-in"]
    logistic = stead.Logistic("b ~ x")
    both = stead.table({"x": x, "b": (rng.random(150) < 0.4).astype(int)})
    fitted = logistic.fit(both, draws=10, rng=1)
    assert in_score_space(Design.bind("x * b", both), fitted, both.schema) is True
