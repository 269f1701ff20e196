"""Words that models and people read alike, where importing what else says them would take long."""

PROBABLY_UNKNOWN = "Probably nothing is known about this. Closest:"
