"""Memory servers from outside: what many clients, killed processes and restarts do to this one and to others."""
