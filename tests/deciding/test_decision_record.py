from __future__ import annotations

import numpy as np
import pytest

from regretless.deciding.decision_record import decision_key

FEATURES = np.array([1.0, 2.0])


@pytest.mark.parametrize("form", ["2024-01-31", "31.01.2024", "31.1.2024", "2024-01-31 00:00:00"])
def test_the_key_of_a_day_does_not_depend_on_its_form(form: str) -> None:
    assert decision_key("run", form, FEATURES, {}) == decision_key("run", "2024-01-31", FEATURES, {})


def test_run_instance_features_and_constraints_are_in_the_key() -> None:
    keys = {
        decision_key("run", "monday", FEATURES, {}),
        decision_key("other", "monday", FEATURES, {}),
        decision_key("run", "tuesday", FEATURES, {}),
        decision_key("run", "monday", FEATURES + 1, {}),
        decision_key("run", "monday", FEATURES, {"row:capacity": 1.0}),
    }
    assert len(keys) == 5
