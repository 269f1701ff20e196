"""The exit codes of all commands."""

DONE, FAILED, WRONG_USE, INTERRUPTED = 0, 1, 2, 130
"""All is done; it was not done, something is wrong with the store, or the person said no; the command line is wrong or a question cannot
be asked, and nothing was done; Ctrl-C."""
