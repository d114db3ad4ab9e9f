"""The seed of a release is a secret (threat T1), and what is secret is its owner's alone (T18).

Whoever has the seed, the model and the un-synthesized columns makes the synthetic sets again: the attack is
carried out here, with the seed and without. Write a test here for a place where a seed could show.
"""

from __future__ import annotations

import base64
import json
import re
import stat
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

from stead.cli.main import execute
from stead.errors import SteadError
from stead.models.linear import Linear
from stead.models.sequence import Sequence
from stead.randomness import fresh_entropy
from stead.release import Release, synthesize
from stead.report import pages
from stead.sampling.diagnostics import Diagnostics
from stead.store.secret import Secret
from stead.tables.examples import consumer_survey
from stead.tables.files import write
from stead.tables.records import Values

if TYPE_CHECKING:
    from pathlib import Path

    from stead.tables.records import Records

SEED = 918_273_645_546_372_819
MODEL = Sequence(
    [Linear("log(Income) ~ Race + KidsCount"), Linear("log(Expenditure) ~ log(Income) + KidsCount")]
)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """A folder with a survey and its plan, which is the working directory."""
    write(consumer_survey(150), tmp_path / "survey.csv")
    monkeypatch.chdir(tmp_path)
    assert execute(["init", "survey.csv"]) == 0
    capsys.readouterr()
    return tmp_path


def spellings(seed: int) -> list[bytes]:
    """The seed as text, in groups, in hexadecimal, as bytes, in base64 of any alignment."""
    size = (seed.bit_length() + 7) // 8
    texts = [f"{seed}", f"{seed:,}", f"{seed:_}", f"{seed:x}", f"{seed:X}"]
    found = [text.encode(code) for text in texts for code in ("utf-8", "utf-16-le", "utf-16-be")]
    found += [seed.to_bytes(size, order) for order in ("little", "big")]
    for plain in list(found):
        for before in range(3):
            coded = base64.b64encode(b"\0" * before + plain)
            found.append(coded[(before * 8 + 5) // 6 : len(coded) - 4])
    return found


def shows(data: bytes, seed: int) -> bool:
    return any(one in data for one in spellings(seed))


def kept_seed(output: Path) -> int:
    seed = Release.load(output / "internal" / "release").seed
    assert seed is not None
    return seed.reveal()


@pytest.mark.parametrize("seed", [SEED, fresh_entropy()], ids=["given", "secret"])
def test_a_seed_is_found_in_every_spelling(seed: int) -> None:
    for text in (f"seed={seed}", f"{seed:,}", f"0x{seed:x}", json.dumps({"seed": seed})):
        assert shows(text.encode(), seed)
        for before in ("", "a", "ab"):
            assert shows(base64.b64encode(f"{before}{text}xyz".encode()), seed)
    assert shows(np.array([1, seed % 2**63]).tobytes(), seed % 2**63)
    assert not shows(f"{seed + 1}".encode(), seed)


# ---- where it may be --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments", [("--repro-seed", str(SEED)), ("--repro-seed", str(SEED), "--json"), ()]
)
def test_the_seed_is_in_the_folder_of_the_release_and_nowhere_else(
    place: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    assert execute(["run", *arguments]) == 0
    out, err = capsys.readouterr()
    output = place / "stead-output"
    seed = kept_seed(output)
    assert (seed == SEED) is bool(arguments)
    assert seed > 2**59
    assert not shows(f"{out}\n{err}".encode(), seed)
    holding = {
        path.relative_to(place).as_posix()
        for path in place.rglob("*")
        if path.is_file() and shows(path.read_bytes(), seed)
    }
    assert holding == {"stead-output/internal/release/seed.json"}
    for page in ("report.html", "internal/assessment.json"):
        assert not re.search(r"(?i)\b(seed|entropy)\b", (output / page).read_text(encoding="utf-8")), page


def test_no_error_shows_the_seed(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ["run", "--repro-seed", str(SEED)]

    def fail(*_: object) -> str:
        raise ValueError(f"entropy {SEED}")

    with monkeypatch.context() as patched:
        patched.setattr(Diagnostics, "problems", property(lambda _: ("R-hat is 2",)))
        codes = [execute([*command, "--json"]), execute(command)]
    monkeypatch.setattr(pages, "report", fail)
    codes += [
        execute(command),
        execute([*command, "--json"]),
        execute([*command, "--nonsense"]),
        execute([*command, "no.toml"]),
    ]
    assert codes == [5, 5, 1, 1, 2, 2]
    out, err = capsys.readouterr()
    assert not shows((out + err).encode(), SEED)
    for path in place.rglob("*"):
        if path.is_file() and path.name != "seed.json":
            assert not shows(path.read_bytes(), SEED), path.name


def test_no_repr_shows_the_seed() -> None:
    release = synthesize(consumer_survey(80), MODEL, m=2, draws=20, rng=SEED)
    assert release.seed is not None
    assert release.seed.reveal() == SEED
    shown = [
        repr(release),
        str(release),
        repr(release.seed),
        str(release.seed),
        f"{release.seed}",
        repr(vars(release)["seed"]),
    ]
    shown += [
        repr(release.posterior),
        repr(dict(release.provenance)),
        repr([release.seed]),
        f"{(release.seed,)}",
    ]
    assert not shows("".join(shown).encode(), SEED)


def test_a_secret_is_neither_printed_nor_pickled_nor_put_into_json() -> None:
    secret = Secret(SEED)
    with pytest.raises(TypeError, match="not pickled"):
        secret.__reduce__()
    with pytest.raises(TypeError):
        json.dumps({"seed": secret})
    assert not hasattr(secret, "__dict__")


def test_a_seed_below_zero_is_refused(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["run", "--repro-seed", "-3"]) == 2
    assert "--repro-seed" in capsys.readouterr().err
    with pytest.raises(SteadError, match="whole number from 0"):
        synthesize(consumer_survey(80), MODEL, rng=-3)


# ---- whose it is ------------------------------------------------------------------------------------


def test_folders_are_0700_and_files_0600_whatever_the_umask(place: Path) -> None:
    command = [sys.executable, "-c", "import os; os.umask(0); from stead.cli.main import main; main()"]
    for arguments in (
        ["init", "survey.csv", "--force"],
        ["run", "-o", "new/deep/output"],
        ["demo", "-o", "demo"],
    ):
        subprocess.run([*command, *arguments], check=True, capture_output=True)
    made = [
        place / "stead.toml",
        place / "new",
        *(place / "new").rglob("*"),
        place / "demo",
        *(place / "demo").rglob("*"),
    ]
    assert len(made) > 40
    for path in made:
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), f"{path.relative_to(place)} is {mode:o}"


# ---- the attack -------------------------------------------------------------------------------------


def differing(one: Records, other: Records, name: str) -> float:
    """The share of rows that differ."""
    return float(np.mean(~one[name].equals(other[name])))


def again(release: Release, posterior_of: Release, seed: int | None) -> list[Records]:
    """What an intruder makes with the model's posterior, the un-synthesized columns and a seed."""
    posterior = posterior_of.posterior
    assert posterior is not None
    _, *streams = np.random.default_rng(seed).spawn(release.m + 1)
    kept = release.synthetic[0].only(release.kept)
    draws = len(posterior.draws)
    chosen = ((np.arange(release.m) + 0.5) * draws / release.m).astype(int)
    return [posterior.sample(int(h), kept, stream) for h, stream in zip(chosen, streams, strict=True)]


def test_with_the_seed_an_intruder_makes_the_sets_again_and_without_it_not() -> None:
    release = synthesize(consumer_survey(300), MODEL, m=3, draws=60)
    assert release.seed is not None
    leaked = release.seed.reveal()
    for made, true in zip(again(release, release, leaked), release.synthetic, strict=True):
        assert differing(made, true, "Income") == differing(made, true, "Expenditure") == 0.0
    for guess in (None, 0, 1, leaked ^ 1, leaked >> 1):
        for made, true in zip(again(release, release, guess), release.synthetic, strict=True):
            assert differing(made, true, "Income") > 0.99


def test_with_the_seed_an_intruder_who_knows_all_others_confirms_a_guessed_value() -> None:
    """The right guess of one confidential income reproduces the release to the last cell; no other guess does."""
    real = consumer_survey(120)
    release = synthesize(real, MODEL, m=2, draws=40)
    assert release.seed is not None
    target = 17
    true = int(real["Income"].values[target])

    def fits(guess: int, seed: int | None) -> bool:
        income = real["Income"].values.copy()
        income[target] = guess
        supposed = real.with_column(real.schema["Income"], Values.complete(income))
        made = synthesize(supposed, MODEL, m=2, draws=40, rng=seed).synthetic
        return all(
            differing(one, other, name) == 0.0
            for one, other in zip(made, release.synthetic, strict=True)
            for name in ("Income", "Expenditure")
        )

    guesses = [true + step for step in (-5000, -40, -1, 0, 1, 40, 5000) if true + step > 0]
    leaked = release.seed.reveal()
    assert [guess for guess in guesses if fits(guess, leaked)] == [true]
    assert [guess for guess in guesses if fits(guess, None)] == []


def test_two_default_runs_differ_and_have_seeds_of_their_own(place: Path) -> None:
    outputs = [place / name for name in ("one", "two")]
    for output in outputs:
        assert execute(["run", "--output", str(output)]) == 0
    files = [[path.read_bytes() for path in sorted((output / "public").iterdir())] for output in outputs]
    assert len({one for some in files for one in some}) == 10, "no set equals another"
    one, two = map(kept_seed, outputs)
    assert one != two
    assert min(one.bit_length(), two.bit_length()) > 200


def test_secret_seeds_have_256_bits() -> None:
    drawn = [fresh_entropy() for _ in range(400)]
    assert len(set(drawn)) == 400
    ones = np.mean([[seed >> bit & 1 for bit in range(256)] for seed in drawn], axis=0)
    assert ones.shape == (256,)
    assert np.abs(ones - 0.5).max() < 0.15  # six standard errors of .025
