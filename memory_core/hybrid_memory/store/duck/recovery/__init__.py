"""Opening a database file with what its write-ahead log and journal hold, and what is done when one is damaged."""
