"""Keeping a store: exports, imports, backups, restoring and purging."""
