"""Makes the pages of docs/reference from the code, so that they cannot say anything else than the program does."""
