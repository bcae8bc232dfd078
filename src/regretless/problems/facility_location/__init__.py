"""Facility location with capacities: data, formulation and loader."""

from regretless.problems.facility_location.formulation import facility_milp
from regretless.problems.facility_location.load import load_facility_location

__all__ = ["facility_milp", "load_facility_location"]
