"""Whether regrets and features are still those of training: well-known tests, with one sentence each.

Regrets are compared by the Mann-Whitney U test, each feature by the two-sample Kolmogorov-Smirnov test. The p-values of
several features are corrected after Holm. Both tests take instances as independent: in a series whose neighbors are
alike, a small p-value says less than it seems to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from regretless.listing import listed
from regretless.milp import Floats
from regretless.number_text import number_text

LEVEL = 0.05
SEASON = (":year_sin", ":year_cos")  # how the names of features end that are the time of the year of a date
FEWEST = 8  # instances on either side, below which no test is made


@dataclass(frozen=True)
class Drift:
    """The result of one kind of test.

    Attributes:
        test: its name.
        p_value: of the regret, or the smallest corrected one of the features; ``None`` where no test was made.
        found: whether it is below the level of 5 %.
        changed: names of the features that have changed.
        sentence: what it says.
    """

    test: str
    p_value: float | None
    found: bool
    changed: tuple[str, ...]
    sentence: str

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def regret_drift(reference: Floats, regrets: Floats, *, what: str) -> Drift:
    """Compare the regrets of logged decisions with earlier ones.

    Args:
        reference: earlier regrets; NaN where one is unknown.
        regrets: those of the log.
        what: what the earlier ones are, such as "the test data of training".
    """
    test = "Mann-Whitney U"
    a, b = (values[np.isfinite(values)] for values in (reference, regrets))
    if min(len(a), len(b)) < FEWEST:
        return Drift(test, None, False, (), _too_few("regret", len(b), len(a), what))
    from scipy import stats  # half a second, which no other command needs

    p = float(stats.mannwhitneyu(b, a, alternative="two-sided").pvalue)
    numbers = f"{test}, p {_shown(p)}; mean {number_text(b.mean())} against {number_text(a.mean())} on {what}"
    if not p < LEVEL:  # also where all values are equal
        return Drift(test, p, False, (), f"No drift of the regret was found ({numbers}).")
    # The test is about ranks, so the medians decide in which direction; the mean, where they are equal.
    higher = (float(np.median(b)), float(b.mean())) > (float(np.median(a)), float(a.mean()))
    return Drift(test, p, True, (), f"The regret has become {'higher' if higher else 'lower'} ({numbers}).")


def feature_drift(reference: Floats, features: Floats, names: Sequence[str], *, what: str) -> Drift:
    """Compare each feature ``(n, k)`` of logged decisions with that of earlier instances ``(m, k)``."""
    test = "Kolmogorov-Smirnov with Holm's correction"
    if min(len(reference), len(features)) < FEWEST:
        return Drift(test, None, False, (), _too_few("features", len(features), len(reference), what))
    from scipy import stats

    raw = [float(stats.ks_2samp(features[:, j], reference[:, j]).pvalue) for j in range(features.shape[1])]
    corrected = holm(raw)
    changed = tuple(name for name, p in zip(names, corrected, strict=True) if p < LEVEL)
    smallest = min(corrected)
    numbers = f"{test}, smallest p {_shown(smallest)}; compared with {what}"
    if not changed:
        return Drift(test, smallest, False, (), f"No drift of the {len(names)} features was found ({numbers}).")
    have = "has" if len(changed) == 1 else "have"
    said = f"{len(changed)} of {len(names)} features {have} changed: {listed(changed)} ({numbers})."
    if all(name.endswith(SEASON) for name in changed):
        said += " That is the time of the year, which differs from that of training without any fault of the data."
    return Drift(test, smallest, True, changed, said)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's corrected p-values, in the given order.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order, largest, corrected = np.argsort(p_values, kind="stable"), 0.0, [0.0] * len(p_values)
    for rank, i in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[i]))
        corrected[i] = largest
    return corrected


def _shown(p: float) -> str:
    return f"= {p:.2g}" if p >= 1e-4 else "below 0.0001"


def _too_few(what: str, n: int, m: int, reference: str) -> str:
    return (
        f"The drift of the {what} cannot be tested: it takes {FEWEST} instances on each side, and there are {n} to "
        f"test and {m} in {reference}."
    )
