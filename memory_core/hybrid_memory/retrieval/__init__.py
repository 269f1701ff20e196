"""Search: the index of a namespace in memory (`index`), fed by the store's changes, and the ranking of its rows (`pipeline`)."""
