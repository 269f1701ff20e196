"""Work on a whole store: backup, restore, export, import, purge, check and repair."""
