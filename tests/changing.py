"""A model of changes for tests: with it every statement that is near to an earlier one likely changes it."""

import numpy as np

from hybrid_memory.changes.pairs import ChangeModel


class _Always(ChangeModel):
    """Gives each pair the same chance."""

    def judged(self, _new, earlier, _rarity, _usual):
        return [self.linked] * len(earlier)


def changes_everything(chance=0.9):
    nothing = np.zeros(1, np.float32)
    return _Always(
        alone=nothing,
        pair=nothing,
        means=nothing,
        scales=nothing,
        networks={},
        in_context=lambda earlier, _new: np.zeros((len(earlier), 1), np.float32),
        corrected=chance,
        linked=chance,
        hinted=0.8,
    )
