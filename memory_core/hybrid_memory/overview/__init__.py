"""When memories were true and believed, of one and of a whole namespace: pure functions of the columns of the search index."""
