"""Synchronisation of stores through a folder that something else carries: rules that join (pure), segments, and `synchronise`."""
