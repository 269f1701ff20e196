"""What is computed of a text before it is stored: its terms, names and days, and its vectors."""
