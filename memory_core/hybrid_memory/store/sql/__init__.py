"""Tables that every SQL store has: statements and decoding that are the same whichever engine runs them."""
