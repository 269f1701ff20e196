"""What a new statement changes about earlier ones, judged when it is written; and what is over by itself, judged when it would be shown."""
