"""What a whole namespace looks like: counts over all of its memories, a map of them by meaning, the names in them."""
