"""What a new statement changes about earlier ones, judged once, when it is written."""
