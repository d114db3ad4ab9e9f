"""McClure & Reiter (2012): table 1 and the worked example, with the public names alone."""

from __future__ import annotations

import numpy as np
import pytest

import stead

SHARES = (0.001, 0.3, 0.5, 0.999)
EPSILONS = (1000, 100, 10, 2, 0.2, 0.01)
TABLE = np.array(
    [
        [0.125201, 0.0367136, 0.0100676, 0.00372547, 0.000578075, 3.13968e-5],
        [0.00718069, 0.00702477, 0.00578166, 0.00328702, 0.000575993, 3.13841e-5],
        [0.0065536, 0.00643361, 0.00543649, 0.00321871, 0.000575608, 3.13843e-5],
        [0.0983598, 0.0350504, 0.0100173, 0.00372314, 0.000578041, 3.13968e-5],
    ]
)
PRINTED = (
    (".125", ".036", ".0101", ".00372", ".000578", "3.13e-05"),
    (".00718", ".00702", ".00578", ".00328", ".000576", "3.13e-05"),
    (".00655", ".00643", ".00543", ".00321", ".000575", "3.13e-05"),
    (".0983", ".0350", ".0100", ".00372", ".000578", "3.13e-05"),
)
LEVELS = (0, 1)
SCHEMA = stead.Schema([stead.Column("Y", "binary", levels=LEVELS)])


def _file(ones: int, rows: int = 1000) -> stead.Records:
    return stead.table({"Y": np.repeat([1, 0], [ones, rows - ones])}, SCHEMA)


def test_table_1_to_the_last_digit_given() -> None:
    found = stead.expected_risk(SHARES, EPSILONS, 1000)
    digits = 10.0 ** (np.floor(np.log10(TABLE)) - 5)
    assert (np.abs(found - TABLE) <= 0.5001 * digits).all()


def test_the_printed_table_is_cut_off_in_some_cells_and_once_so_early_that_it_matters() -> None:
    """Every printed cell is within one unit of its last digit; .036 stands for .0367136, two per cent less."""
    found = stead.expected_risk(SHARES, EPSILONS, 1000)
    cut = {}
    for place, text in np.ndenumerate(np.array(PRINTED)):
        mantissa, _, power = str(text).partition("e")
        unit = 10.0 ** (int(power or 0) - len(mantissa.partition(".")[2]))
        assert abs(found[place] - float(text)) < unit
        if abs(found[place] - float(text)) > 0.5 * unit:
            cut[place] = found[place] / float(text) - 1
    assert len(cut) == 12
    assert cut.pop((0, 1)) == pytest.approx(0.0198, abs=1e-4)
    assert 0 < min(cut.values()) < max(cut.values()) < 0.004


def test_the_worked_example_is_a_case_of_the_one_rule() -> None:
    records = _file(1)
    posterior = stead.BinaryDP(1000, column="Y", declared=LEVELS).fit(records)
    assert float(posterior.mechanism.prior[0]) == pytest.approx(0.58197671, abs=5e-9)
    release = stead.Release.from_tables(
        records, [_file(3)], synthesized=["Y"], aligned=False, proper=False, posterior=posterior
    )
    measured = stead.attribute_risk(release, "Y", rows=[0])
    assert measured.details["evidence"] == "exact"
    assert measured.per_record["probability"][0] == pytest.approx(0.88112025, abs=5e-9)
    assert measured.per_record["factor"][0] == pytest.approx(0.13548837 / 0.01827994, rel=1e-6)
    assert measured.per_record["worst_factor"][0] == measured.per_record["factor"][0]


def test_the_likelihoods_of_the_worked_example() -> None:
    from stead.models.binary_law import BinaryLaw

    law = BinaryLaw.of(1000, 1000)
    assert np.exp(law.log_probability(3, 1)) == pytest.approx(0.13548837, abs=5e-9)
    assert np.exp(law.log_probability(3, 0)) == pytest.approx(0.01827994, abs=5e-9)


def test_the_region_of_the_paper_is_safe_for_every_prior_exactly_up_to_1_0625() -> None:
    region = stead.Region("R <= .1 or RR <= 1.05 or (RR <= 10 and R <= .2)")
    assert [str(one) for one in region.safe_factors] == ["(0, 1.0625]"]
    assert region.outside(1.0625) == ()
    (leaving,) = region.outside(np.nextafter(1.0625, 2))
    assert float(leaving.low) == pytest.approx(0.2 / (1.0625 - 0.0625 * 0.2))
