"""Words and characters: texts, terms, names and the languages they are in. Pure."""
