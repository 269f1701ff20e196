"""What the terminal and the inspector tell people in the same words: times and numbers, programs, tiers, conversations, the log."""
