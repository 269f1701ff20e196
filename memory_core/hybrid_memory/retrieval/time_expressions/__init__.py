"""Time in a question or statement: which moments it means, relative to the one at which it is said.

`parse_time_expressions` is called for each question (``reads.py``); ranking uses its result. Pure, English rules. The steps:
``lexer`` makes tokens; ``tense`` tells in which direction the wording looks; ``expressions`` finds periods, from names of the
calendar (``calendar_names``) and distances (``relative_times``); ``events`` finds events that stand for a time. The arithmetic
of periods is ``calendar_math``.

Of other languages dates in digits are read (ISO, year/month/day, day.month.year, 2023年5月8日), and days, months, weekdays,
"yesterday" and the like of those that ``foreign_days`` knows: it makes them English before. Names without a year mean
the latest that has begun, in wording that looks ahead the next to come, in the plain present tense either. Months, weekdays
and other words that mean something else as well ("may", "march", "sat", "spring") count only where a time is expected, names
of people ("April", "June") only behind "in", "since", "before" and the like.

Not understood: an event's own date ("a month after the move" is an anchor alone), feasts of lunar calendars or of families,
hours without a day, "8/5" without a year, "every Monday" (no single one is meant), negation ("not in May"), school and fiscal
years, the present tense of verbs without "do" or "be" ("Who lives here?" asks for "any" state), and which of two events came
first.
"""
