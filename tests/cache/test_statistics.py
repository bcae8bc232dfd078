from __future__ import annotations

import numpy as np

from regretless.cache.statistics import CacheStatistics


def test_gaps_are_reported_once():
    counts = CacheStatistics()
    assert counts.report() == {}
    counts.add_gaps(np.array([0.1, 0.3]))
    counts.add_gaps(np.array([0.2]))
    report = counts.report()
    assert report["largest_gap"] == 0.3
    assert np.isclose(report["mean_gap"], 0.2)
    assert counts.report() == {}
    counts.add_gaps(np.array([0.1]))
    assert counts.report() == {"mean_gap": 0.1, "largest_gap": 0.1}


def test_a_batch_without_gaps_changes_nothing():
    counts = CacheStatistics()
    counts.add_gaps(np.array([]))
    assert counts == CacheStatistics()
