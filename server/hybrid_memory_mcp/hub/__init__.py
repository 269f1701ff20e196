"""The hub: the one process that has a store open. It serves the relays of all clients, and the commands of people."""
