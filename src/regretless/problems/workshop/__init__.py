"""A workshop that schedules its orders by predicted electricity prices: formulation, prices and loader."""

from regretless.problems.workshop.formulation import Order, Step, random_orders, workshop_milp
from regretless.problems.workshop.load import load_workshop
from regretless.problems.workshop.prices import hourly_prices

__all__ = ["Order", "Step", "hourly_prices", "load_workshop", "random_orders", "workshop_milp"]
