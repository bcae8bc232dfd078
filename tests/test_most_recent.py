import copy
import itertools
import pickle
import threading

import pytest

from regretless.most_recent import MostRecent, MostRecentOfThread


def test_the_entry_used_least_recently_is_dropped_and_made_again():
    count = itertools.count()
    recent: MostRecent[int, int] = MostRecent(2)
    assert [recent.find(key, lambda: next(count)) for key in (1, 2, 1, 3, 2)] == [0, 1, 0, 2, 3]
    assert list(recent) == [3, 2]


def test_an_entry_that_cannot_be_made_leaves_the_others():
    recent: MostRecent[str, float] = MostRecent(1)
    recent.find("kept", lambda: 1.0)
    with pytest.raises(ZeroDivisionError):
        recent.find("failed", lambda: 1 / 0)
    assert recent == {"kept": 1.0}


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_copy_begins_without_entries_and_keeps_the_limit(copied):
    of_thread = MostRecentOfThread(1)
    of_thread.entries.find(1, threading.Lock)  # cannot be copied
    again = copied(of_thread).entries
    assert not again
    for key in (1, 2):
        again.find(key, threading.Lock)
    assert list(again) == [2]


def test_threads_do_not_share_entries():
    of_thread = MostRecentOfThread(3)
    of_thread.entries.find(1, lambda: "here")
    there: list[int] = []
    thread = threading.Thread(target=lambda: there.append(len(of_thread.entries)))
    thread.start()
    thread.join()
    assert there == [0]
    assert of_thread.entries == {1: "here"}
