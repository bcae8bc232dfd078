"""What a decider answers: a decision by name, what it is worth, and how it was found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from regretless.types import Status

Found = Literal["solved", "cached", "infeasible"]


@dataclass(frozen=True)
class Violation:
    """A row or a variable outside of its bounds.

    Attributes:
        name: of the row or of the variable.
        kind: ``"row"`` or ``"variable"``.
        value: of the row or the variable at the decision.
        lower, upper: its bounds.
    """

    name: str
    kind: Literal["row", "variable"]
    value: float
    lower: float
    upper: float

    def __str__(self) -> str:
        side = f"above {self.upper:g}" if self.value > self.upper else f"below {self.lower:g}"
        return f"{self.kind} {self.name}: {self.value:g} is {side}"


@dataclass(frozen=True)
class RunnerUp:
    """The best other feasible decision that is known.

    Attributes:
        decision: values by variable name.
        objective: at the predicted costs.
        extra: by how much it is worse than the decision, in units of the objective.
    """

    decision: Mapping[str, float]
    objective: float
    extra: float


@dataclass(frozen=True)
class Decision:
    """The answer to one request.

    Attributes:
        decision: values of all variables by name.
        predicted: predicted costs by name.
        objective: of the decision at the predicted costs, in the user's own sense, known costs included.
        status: ``OPTIMAL`` or ``FEASIBLE`` for a feasible decision; otherwise how the solve ended.
        found: ``"solved"`` by the engine; ``"cached"``: the best feasible decision that was known, because the engine
            was late, failed or found a worse one; ``"infeasible"``: no feasible decision is known, and this one
            violates the rows and bounds in ``violated`` least.
        gap: proven relative distance to the optimum; ``None`` where there is no bound, or no feasible decision.
        bound: the bound behind the gap, in the sense of the objective.
        violated: rows and variables outside of their bounds; empty for a feasible decision.
        runner_up: the best other decision that is known, where it was requested and there is one.
        seconds: from the request to the answer.
        message: why the engine did not decide, where it did not.
    """

    decision: Mapping[str, float]
    predicted: Mapping[str, float]
    objective: float
    status: Status
    found: Found
    gap: float | None = None
    bound: float | None = None
    violated: tuple[Violation, ...] = ()
    runner_up: RunnerUp | None = None
    seconds: float = 0.0
    message: str = ""

    @property
    def feasible(self) -> bool:
        """Whether the decision keeps all rows and bounds."""
        return self.found != "infeasible"

    def as_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return asdict(self) | {"status": str(self.status), "violated": [str(one) for one in self.violated]}
