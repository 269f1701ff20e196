"""A model of changes for tests: with it every statement that is near to an earlier one likely changes it."""

import numpy as np

from hybrid_memory.changes.pairs import ChangeModel


class _Always(ChangeModel):
    """Gives each pair the same chance."""

    def judged(self, _new, earlier, _rarity, _usual):
        return [self.linked] * len(earlier)


class _Only(_Always):
    """Gives a chance to pairs with one earlier statement alone."""

    old: str

    def judged(self, _new, earlier, _rarity, _usual):
        return [self.linked * (one.text == self.old) for one in earlier]


def changes_only(old):
    """Return what makes a model with which every statement that is near to one of these words likely changes it."""
    return lambda: changes_everything(sort=type("Only", (_Only,), {"old": old}))


def changes_everything(chance=0.9, sort=_Always):
    nothing = np.zeros(1, np.float32)
    return sort(
        alone=nothing,
        pair=nothing,
        means=nothing,
        scales=nothing,
        networks={},
        in_context=lambda earlier, _new, _answers: np.zeros((len(earlier), 1), np.float32),
        corrected=chance,
        linked=chance,
        hinted=0.8,
    )
