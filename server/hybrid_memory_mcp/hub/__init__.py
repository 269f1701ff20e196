"""The process that has the store open and serves every client's relay."""
