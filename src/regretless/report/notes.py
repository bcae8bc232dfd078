"""Plain words: what regret is, how it is measured, and what in the paper's figures cannot be matched."""

from __future__ import annotations

from collections.abc import Iterable

from regretless.report.markup import Markup, tag

REGRET = (
    "Regret is what a prediction costs. The model predicts the costs, the solver takes the decision that is best for "
    "those predictions, and the decision is then paid for at the true costs. Regret is how much worse that is than "
    "the best decision in hindsight: 0 is perfect, and the unit is that of the objective (money, energy, links). "
    "Relative regret divides the sum of the regrets by the sum of the absolute optimal values.",
    "A model with a smaller prediction error (MSE) can have a larger regret: only errors that change the decision "
    "count. That is why both columns are shown.",
)
EVALUATION = (
    "Every regret in this report is exact: each test instance is solved by the exact solver, once for the predicted "
    "and once for the true costs. The solution cache takes part in training only, never in evaluation.",
    "Where a true optimum could not be proven, for example because of a time limit, or where a solve failed, this is "
    "counted and said under “Read with care”.",
    "Seconds per epoch are those of training; evaluation after an epoch is not in them. Figures are means over the "
    "seeds, followed by the sample deviation. Bands and bars in the charts are one such deviation wide to each side.",
)
# Of published figures: (beginning of the problem's name, remark).
PUBLISHED = (
    ("knapsack-", "Data: the public file that gives the published figures has multiplicative noise, other than the "
     "text of the paper says. The split “paper” divides the days as the published experiments did."),
    ("knapsack-", "Published deviations need one vector of first weights shared by all runs. With random first "
     "weights NCE, MAP at c_hat and Blackbox scatter much more, so those cells cannot be matched exactly."),
    ("knapsack-", "The published QPTL script left out the bounds 0 to 1 of its variables; here they are kept, "
     "so the published value is not a target."),
    ("knapsack-", "The published MSE columns print 10⁶ where 10⁵ is meant."),
    ("energy-", "An exact scheduler does not give the published levels of energy regret; the factor is nearly constant "
     "within an instance. The scheduler here agrees with a mixed-integer model and is not tuned towards them."),
    ("energy-", "Published energy MSEs of decision losses are drift in directions without a gradient: no target."),
    ("energy-", "The paper gives two values for two-stage on energy-2, one in the text and one in the appendix."),
    ("matching-", "Most published matching rows lie at the level of random costs: no ranking of methods can be read "
     "off them. The probable reason is that fields were indexed by position, not by paper: see the option same_field."),
    ("", "The published MAP figures choose the cached solution by the shifted cost, not by the predicted one as the "
     "text says, and the cache grew at the predicted cost: see the settings select and grow_at."),
)  # fmt: skip


def explanation() -> Markup:
    """What regret is and how it is measured."""
    return tag(
        "section",
        tag("h2", "What the figures mean"),
        tag("h3", "Regret"),
        *(tag("p", text) for text in REGRET),
        tag("h3", "Evaluation"),
        *(tag("p", text) for text in EVALUATION),
        id="meaning",
    )


def published_remarks(problems: Iterable[str]) -> Markup | None:
    """What of the published figures cannot be matched, for the problems of the paper that are here."""
    names = [name for name in problems if name.startswith(("knapsack-", "energy-", "matching-"))]
    texts = [text for beginning, text in PUBLISHED if any(name.startswith(beginning) for name in names)]
    if not texts:
        return None
    listed = tag("ul", *(tag("li", text) for text in texts))
    return tag("section", tag("h2", "Beside the published figures"), listed, id="published")
