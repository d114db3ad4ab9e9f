"""A sequence of models: y_1 given x, then y_2 given y_1 and x, and so on.

    log p(record | theta_h) = sum_j log p(y_j | y_1, ..., y_(j-1), x, theta_jh)

Each model is fitted to the confidential file; later columns are drawn given the *synthetic* earlier ones,
so that the released record depends on the confidential one through the parameters alone. A model that needs
a column which a later one makes is refused: it would be predicted from confidential values.
Raghunathan, Reiter & Rubin (2003), Journal of Official Statistics 19; Reiter (2005), JRSS A 168.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stead.errors import UsageError, shorten
from stead.language.functions import IDENTITY
from stead.models.base import Model, Posterior, Progress, silent
from stead.models.epsilon import HasEpsilon
from stead.randomness import generator

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from collections.abc import Sequence as Several

    from numpy.typing import NDArray

    from stead.language.functions import Function
    from stead.models.choices import Choice, Shape
    from stead.models.regression import Weights
    from stead.randomness import Rng
    from stead.sampling.diagnostics import Diagnostics
    from stead.tables.records import Records
    from stead.tables.schema import Schema

    Array = NDArray[np.float64]


@dataclass(frozen=True)
class Sequence:
    """`stead.Sequence([stead.Linear("log(Income) ~ Race"), stead.Linear("log(Expenditure) ~ log(Income) + Race")])`."""

    models: tuple[Model, ...]
    choices: tuple[Choice, ...]
    """What was chosen for each column and why, where `auto` chose."""
    shapes: tuple[Shape, ...]
    """Spikes, heaps and lowest values that `auto` found and the schema does not declare; a fit takes them as declared."""

    def __init__(
        self, models: Iterable[Model], *, choices: Iterable[Choice] = (), shapes: Iterable[Shape] = ()
    ) -> None:
        object.__setattr__(self, "models", tuple(models))
        object.__setattr__(self, "choices", tuple(choices))
        object.__setattr__(self, "shapes", tuple(shapes))
        if not self.models:
            raise UsageError("E-SEQUENCE", "a sequence needs at least one model")
        if any(isinstance(model, HasEpsilon) for model in self.models):
            raise UsageError(
                "E-SEQUENCE",
                "a differentially private model stands alone: beside a model that is not private its epsilon would say nothing of the file. Synthesize its columns by themselves; those of several private models may be put side by side, and their costs add up",
            )
        place: dict[str, int] = {}
        twice: set[str] = set()
        for at, model in enumerate(self.models):
            twice |= {name for name in model.responses if name in place}
            place |= dict.fromkeys(model.responses, at)
        if twice:
            raise UsageError(
                "E-SEQUENCE",
                f"{', '.join(map(shorten, sorted(twice)))}: made by more than one model of the sequence",
            )
        for at, model in enumerate(self.models):
            early = [name for name in predictors_of(model) if place.get(name, -1) > at]
            if early:
                raise UsageError(
                    "E-SEQUENCE",
                    f"{shorten(model.responses[0])} is predicted from {shorten(early[0])}, which a later model makes; put {shorten(early[0])} first, or take it out of the formula",
                )

    @classmethod
    def auto(
        cls,
        source: Schema | Records,
        method: str = "regression",
        *,
        columns: Iterable[str] | None = None,
        order: Iterable[str] = (),
        formulas: Mapping[str, str | Model] | None = None,
        predictors: int = 30,
        weights: Weights = "",
        rules: bool = True,
    ) -> Sequence:
        """A model for each column: `stead.Sequence.auto(records)`, or of a schema alone, by kinds.

        columns     to make; all with the role keep
        order       in which columns are visited; those that are not named follow in the order of the file
        formulas    a formula or a model for some columns, {"Income": "log(Income) ~ Race"}
        predictors  of a column, at most
        weights     "pseudo" weighs all fits by the survey weight, "ignore" says that it is not meant to
        rules       whether columns that follow from others are made by rule

        What was chosen, and why, is in `choices`.
        """
        from stead.models.auto import auto

        return auto(
            source,
            method,
            columns=columns,
            order=order,
            formulas=formulas,
            predictors=predictors,
            weights=weights,
            rules=rules,
        )

    @property
    def responses(self) -> tuple[str, ...]:
        """All columns that are made, in order."""
        return tuple(name for model in self.models for name in model.responses)

    def fit(
        self, records: Records, *, draws: int = 1000, rng: Rng = None, progress: Progress = silent
    ) -> SequencePosterior:
        """The posteriors of all models, each with its own stream."""
        streams = generator(rng).spawn(len(self.models))
        records = records.redeclared(*(shape.of(records.schema[shape.column]) for shape in self.shapes))
        fitted: list[Posterior] = []
        for place, (model, stream) in enumerate(zip(self.models, streams, strict=True)):
            progress(f"fit {shorten(model.responses[0])}", place, len(self.models))
            fitted.append(model.fit(records, draws=draws, rng=stream))
        progress("fit", len(self.models), len(self.models))
        return SequencePosterior(tuple(fitted))

    def __repr__(self) -> str:
        return f"Sequence({', '.join(map(repr, self.models))})"


def predictors_of(model: Model) -> tuple[str, ...]:
    """The columns that a model predicts from, by its formula or as it says."""
    return tuple(getattr(getattr(model, "parsed", model), "predictors", ()))


@dataclass(frozen=True, repr=False, eq=False)
class SequencePosterior:
    """The posteriors of a sequence; draw h of the whole is draw h of each."""

    parts: tuple[Posterior, ...]

    @property
    def responses(self) -> tuple[str, ...]:
        """All columns that are made, in order."""
        return tuple(name for part in self.parts for name in part.responses)

    @property
    def parts_in_order(self) -> tuple[Posterior, ...]:
        """The posteriors of single columns, those of sequences inside this one unfolded."""
        return tuple(one for part in self.parts for one in getattr(part, "parts_in_order", (part,)))

    @property
    def predictors(self) -> tuple[str, ...]:
        """All columns that any part is predicted from."""
        return tuple(dict.fromkeys(name for part in self.parts for name in part.predictors))

    @property
    def refittable(self) -> bool:
        """Whether every part is."""
        return all(part.refittable for part in self.parts)

    def has_exact_evidence(self, targets: tuple[str, ...], *, known: bool) -> bool:
        """Where the guess changes the term of one part alone, and that has it; what is unknown must not hang on the guess."""
        own = self._part_of(targets)
        return own is not None and own.has_exact_evidence(targets, known=known)

    def exact_evidence(
        self,
        confidential: Records,
        synthetic: Several[Records],
        values: Mapping[str, NDArray[Any]],
        rows: NDArray[np.int64],
    ) -> Array | None:
        """That of the part whose column is guessed."""
        own = self._part_of(tuple(values))
        return None if own is None else own.exact_evidence(confidential, synthetic, values, rows)

    def _part_of(self, targets: tuple[str, ...]) -> Posterior | None:
        """The only part that the targets touch; None where they touch several."""
        touched = [
            part
            for part in self.parts_in_order
            if set(part.responses) & set(targets) or set(part.predictors) & set(targets)
        ]
        return touched[0] if len(touched) == 1 else None

    def scale(self, name: str) -> Function:
        """The function on whose scale a column is modelled."""
        return next((part.scale(name) for part in self.parts if name in part.responses), IDENTITY)

    @property
    def draws(self) -> Array:
        """The draws of all parts, side by side."""  # (H, K)
        return np.concatenate([part.draws for part in self.parts], axis=1)

    @property
    def parameters(self) -> tuple[str, ...]:
        """`column: parameter`."""
        return tuple(f"{part.responses[0]}: {name}" for part in self.parts for name in part.parameters)

    @property
    def diagnostics(self) -> tuple[Diagnostics, ...]:
        """One for each part."""
        return tuple(checked for part in self.parts for checked in part.diagnostics)

    def sample(self, h: int, given: Records, rng: Rng) -> Records:
        """`given` with each column drawn in turn, given the synthetic ones before it."""
        made = given.without(name for name in self.responses if name in given)
        for part, stream in zip(self.parts, generator(rng).spawn(len(self.parts)), strict=True):
            made = part.sample(h, made, stream)
        return made

    def log_likelihood(self, records: Records, draws: slice = slice(None)) -> Array:
        """The sum over columns."""  # (h, n)
        total = self.parts[0].log_likelihood(records, draws)
        for part in self.parts[1:]:
            total += part.log_likelihood(records, draws)
        return total

    def refit(self, records: Records, *, draws: int = 1000, rng: Rng = None) -> SequencePosterior:
        """The posteriors of the same models given other records, with the same constants."""
        streams = generator(rng).spawn(len(self.parts))
        return SequencePosterior(
            tuple(
                part.refit(records, draws=draws, rng=stream)
                for part, stream in zip(self.parts, streams, strict=True)
            )
        )

    def describe(self) -> list[dict[str, Any]]:
        """One entry for each part."""
        return [entry for part in self.parts for entry in part.describe()]

    def to_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The states of the parts, their arrays named by place."""
        states: list[dict[str, Any]] = []
        arrays: dict[str, NDArray[Any]] = {}
        for place, part in enumerate(self.parts):
            state, held = part.to_state()
            states.append(state)
            arrays |= {f"{place}.{name}": array for name, array in held.items()}
        return {"model": "Sequence", "parts": states}, arrays

    def __repr__(self) -> str:
        return f"Posterior(Sequence of {', '.join(map(shorten, self.responses))}, {len(self.parts[0].draws)} draws)"
