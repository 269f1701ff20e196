"""Operations: what a command of a person does with a store, such as status, backup or purge.

``hub_client.py`` has the store's hub do one; where no hub runs, the command's own process does it (``operations.py``).
"""
