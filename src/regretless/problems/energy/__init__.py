"""Energy-cost-aware scheduling: tasks on machines at the cheapest prices of the day."""

from regretless.problems.energy.drawing import gantt
from regretless.problems.energy.formulation import Assignment, formulate, schedule
from regretless.problems.energy.icon import read_icon
from regretless.problems.energy.instance import Instance, Machine, Task
from regretless.problems.energy.load import load_energy
from regretless.problems.energy.oracle import EnergyOracle

__all__ = [
    "Assignment", "EnergyOracle", "Instance", "Machine", "Task", "formulate", "gantt", "load_energy", "read_icon",
    "schedule",
]  # fmt: skip
