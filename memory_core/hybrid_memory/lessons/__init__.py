"""Lessons of failed commands: what failed in a project, what worked instead, and what the person ruled out. All but `book` is pure."""
