"""Markdown files: memories as files that people read and that come back whole, and notes of others as statements. Pure."""
