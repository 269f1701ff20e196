"""Finding: search structures in memory, fed by the store's changes, and the pure arithmetic of ranking."""
