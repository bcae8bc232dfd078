from __future__ import annotations

import json
import math
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import torch

from regretless.errors import FileError, SolveError
from regretless.runs import run_folder
from regretless.runs.run_folder import (
    failure,
    has_labels,
    keep_failure,
    missing_paths,
    own_labels,
    read_figures,
    read_object,
    read_spec,
    refuse_another,
    remove_labels,
    removed_on_failure,
    with_weights,
)
from regretless.runs.spec import Spec
from regretless.storage import save_state, write_json
from regretless.training.model_terms import with_terms
from regretless.training.models import make_model


def fail_after_writing(folder: Path, *names: str) -> None:
    folder.mkdir(parents=True)
    for name in names:
        (folder / name).write_text("")
    raise KeyboardInterrupt


def test_new_files_and_folders_go_when_a_block_fails_and_others_stay(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    folder = tmp_path / "mine" / "a" / "run"
    new = missing_paths(folder, ("one", "two"))
    assert new == [folder / "one", folder / "two", folder, folder.parent]
    with pytest.raises(KeyboardInterrupt), removed_on_failure(new, unless=lambda: False):
        fail_after_writing(folder, "one")
    assert [path.name for path in tmp_path.rglob("*")] == ["mine"]


def test_work_that_is_worth_keeping_is_kept(tmp_path: Path) -> None:
    new = missing_paths(tmp_path / "run", ("one",))
    with pytest.raises(KeyboardInterrupt), removed_on_failure(new, unless=(tmp_path / "run" / "two").exists):
        fail_after_writing(tmp_path / "run", "one", "two")
    assert len(list((tmp_path / "run").iterdir())) == 2


def test_folders_without_a_finished_run_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"is no run: it has no spec\.json"):
        read_spec(tmp_path)
    (tmp_path / "spec.json").write_text("{}")
    with pytest.raises(FileError, match="is not finished: repeat its train command with --resume"):
        read_spec(tmp_path)


@pytest.mark.parametrize("content", ["[]", "{}", '{"problem": "demo", "method": "spo", "colour": 1}', "{"])
def test_a_damaged_specification_is_named(content: str, tmp_path: Path) -> None:
    (tmp_path / "spec.json").write_text(content)
    (tmp_path / "weights.safetensors").write_bytes(b"")
    with pytest.raises(FileError, match=r"spec\.json"):
        read_spec(tmp_path)


def test_weights_of_another_model_are_named(tmp_path: Path) -> None:
    save_state(tmp_path / "weights.safetensors", dict(torch.nn.Linear(2, 3).state_dict()), kind="weights")
    with_weights(torch.nn.Linear(2, 3), tmp_path)
    with pytest.raises(FileError, match=r"weights\.safetensors does not fit the model of this run"):
        with_weights(torch.nn.Linear(2, 4), tmp_path)


@pytest.mark.parametrize(
    "terms",
    [
        (),
        ("products",),
        ("splines",),
        ("intercepts",),
        ("splines", "intercepts"),
        ("products", "splines", "intercepts"),
    ],
)
@pytest.mark.parametrize("make", [lambda x: torch.nn.Linear(2, 3), lambda x: make_model(x, 3)])
def test_a_search_may_have_added_terms(make, terms, tmp_path: Path) -> None:
    x = torch.randn(9, 3, 2) if "intercepts" in terms else torch.randn(9, 2)
    if "intercepts" in terms:
        make = partial(make_model, dimension=3)
    model = with_terms(make(x), x, terms)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(1.0)
    save_state(tmp_path / "weights.safetensors", dict(model.state_dict()), kind="weights")
    torch.testing.assert_close(with_weights(make(x), tmp_path)(x), model(x))


def test_a_search_may_have_added_more_terms_than_it_tries_by_default(tmp_path: Path) -> None:
    x = torch.randn(9, 60)
    model = with_terms(make_model(x, 3), x, ["products"])
    save_state(tmp_path / "weights.safetensors", dict(model.state_dict()), kind="weights")
    torch.testing.assert_close(with_weights(make_model(x, 3), tmp_path)(x), model(x))


def test_a_run_that_is_not_finished_may_be_made_longer_and_no_other(tmp_path: Path) -> None:
    spec = Spec("demo", "spo", epochs=3)
    write_json(tmp_path / "spec.json", spec.as_dict())
    refuse_another(tmp_path, Spec("demo", "map-dc"))  # nothing there is worth keeping
    (tmp_path / "checkpoint.safetensors").write_bytes(b"")
    refuse_another(tmp_path, replace(spec, epochs=9))
    with pytest.raises(FileError, match=r"holds another run \(it differs in method\)"):
        refuse_another(tmp_path, replace(spec, method="map-dc"))
    write_json(tmp_path / "metrics.json", {})
    with pytest.raises(FileError, match=r"holds another run \(it differs in epochs\)"):
        refuse_another(tmp_path, replace(spec, epochs=9))


@pytest.mark.parametrize(
    ("error", "said"), [(SolveError("no solution"), "no solution"), (KeyError("x"), "KeyError: 'x'")]
)
def test_a_failed_run_keeps_its_specification_and_its_error(error: Exception, said: str, tmp_path: Path) -> None:
    spec = Spec("demo", "spo", seed=3, settings={"a": 1})
    assert failure(error) == {"status": "failed", "error": said}
    keep_failure(tmp_path / "run", spec, said)
    assert Spec.from_dict(read_object(tmp_path / "run" / "spec.json")) == spec
    assert read_object(tmp_path / "run" / "failure.json")["error"] == said


def ended_by(error: BaseException, folder: Path) -> None:
    """Write a label and fail."""
    with own_labels(folder) as store:
        store.mkdir(exist_ok=True)
        (store / f"begun-{'0' * 32}.safetensors").touch()
        raise error


def test_labels_stay_when_work_is_interrupted_and_the_message_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_folder, "WORTH", 0.0)
    with pytest.raises(KeyboardInterrupt, match=f"{tmp_path} keeps the labels"):
        ended_by(KeyboardInterrupt(), tmp_path)
    assert has_labels(tmp_path)


@pytest.mark.parametrize("error", [KeyboardInterrupt("after epoch 3"), ValueError("wrong"), ValueError()])
def test_what_an_error_says_stays(error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_folder, "WORTH", 0.0)
    with pytest.raises(type(error), match=f"^{error}$"):
        ended_by(error, tmp_path)
    assert has_labels(tmp_path)


def test_nothing_stays_of_a_moment_of_work(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt, match=r"^$"):
        ended_by(KeyboardInterrupt(), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_labels_of_earlier_work_stay_whatever_happens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_folder, "WORTH", 0.0)
    with pytest.raises(ValueError, match="first"):
        ended_by(ValueError("first"), tmp_path)
    monkeypatch.setattr(run_folder, "WORTH", 60.0)
    with pytest.raises(ValueError, match="second"):
        ended_by(ValueError("second"), tmp_path)
    assert has_labels(tmp_path)
    remove_labels(tmp_path)
    remove_labels(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_an_empty_folder_does_not_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fill() -> None:
        with own_labels(tmp_path) as store:
            store.mkdir()
            raise FileError("the disk is full")

    monkeypatch.setattr(run_folder, "WORTH", 0.0)
    with pytest.raises(FileError):
        fill()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("error", [None, ValueError("wrong")])
def test_a_folder_of_the_users_own_with_the_same_name_stays(error: BaseException | None, tmp_path: Path) -> None:
    mine = tmp_path / "labels" / "mine.safetensors"
    mine.parent.mkdir()
    mine.touch()
    assert not has_labels(tmp_path)
    if error is not None:
        with pytest.raises(ValueError, match="wrong"):
            ended_by(error, tmp_path)
    remove_labels(tmp_path)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [mine]


@pytest.mark.parametrize("word", ["null", "NaN"])
def test_figures_that_could_not_be_measured_are_nan(tmp_path: Path, word: str) -> None:
    (tmp_path / "metrics.json").write_text(f'{{"regret": 1.5, "relative_regret": {word}, "cache_size": null}}')
    figures = read_figures(tmp_path)
    assert math.isnan(figures.pop("relative_regret"))
    assert figures == {"regret": 1.5, "cache_size": None}


def test_a_run_with_an_infinite_time_limit_is_still_the_same_run(tmp_path: Path) -> None:
    spec = Spec("workshop", "map-dc", options={"time_limit": float("inf")})
    (tmp_path / "spec.json").write_text(json.dumps(spec.as_dict() | {"options": {"time_limit": float("inf")}}))
    (tmp_path / "metrics.json").write_text("{}")
    refuse_another(tmp_path, spec)
