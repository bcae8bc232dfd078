from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from regretless.errors import InputError
from regretless.problems.matching.cora import Network, citation_network
from regretless.problems.matching.cora_instances import links, nodes, same_field

NETWORK = Network(sparse.csr_array((6, 3)), np.array([0, 0, 1, 1, 2, 0]), np.array([[0, 4], [1, 5], [2, 3]]))
IDS = np.array([[[4, 5], [0, 1]], [[3, 1], [2, 0]]])


def test_no_paper_stands_in_two_places() -> None:
    ids = nodes()
    assert ids.shape == (27, 2, 50)
    assert len(np.unique(ids)) == 2700
    assert ids.min() >= 0
    assert ids.max() < 2708


def test_links_are_found_whichever_side_the_smaller_id_is_on() -> None:
    assert links(NETWORK, IDS).tolist() == [[1.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0]]


def test_same_field_compares_the_papers() -> None:
    assert same_field(NETWORK, IDS).tolist() == [[[False, False], [True, True]], [[True, False], [False, True]]]


def test_position_compares_the_papers_that_stand_where_the_ids_rank_in_their_part() -> None:
    # instance 0: ids 4, 5 | 0, 1 rank 2, 3 | 0, 1; instance 1: ids 3, 1 | 2, 0 rank 3, 1 | 2, 0
    expected = [[[False, False], [False, False]], [[True, False], [False, True]]]
    assert same_field(NETWORK, IDS, "position").tolist() == expected


def test_another_kind_is_refused() -> None:
    with pytest.raises(InputError, match="'paper' or 'position', got 'author'"):
        same_field(NETWORK, IDS, "author")  # type: ignore[arg-type]


@pytest.mark.data
def test_the_instances_of_cora_have_many_links_and_most_share_a_field() -> None:
    network = citation_network()
    labels = links(network, nodes())
    assert labels.shape == (27, 2500)
    assert labels.sum(axis=1).min() >= 67
    share = labels[same_field(network, nodes()).reshape(27, -1)].sum() / labels.sum()
    assert 0.8 < share < 0.87
    assert 0.1 < same_field(network, nodes(), "position").mean() < 0.2
