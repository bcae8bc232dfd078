"""Options that a search (``auto``) has no use for: they are refused, before anything is done."""

from __future__ import annotations

from regretless.errors import InputError


def refuse_for_auto(
    *,
    lr: float | None = None,
    epochs: int | None = None,
    patience: int | None = None,
    validation: float | None = None,
    init: str = "random",
    start: str = "",
) -> None:
    """Raise ``InputError`` for an option of one training that is given to a search; ``None`` was not given.

    A search chooses learning rate and settings by folds of the training data, so it needs no validation data, and it
    starts from two-stage weights unless ``start`` is ``random``.
    """
    for name, value in (("lr", lr), ("patience", patience), ("validation", validation)):
        if value:
            raise InputError(
                f"method 'auto' chooses by folds of the training data: leave out --{name}, or name a method (--method)"
            )
    if epochs == 0:
        raise InputError("method 'auto' needs at least one epoch: leave out --epochs, and the search chooses")
    if init != "random" and start != "random":
        raise InputError(f"method 'auto' starts from two-stage weights: leave out --init {init}, or add --start random")
