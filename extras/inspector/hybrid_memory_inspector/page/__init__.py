"""The page that a person opens: HTTP, HTML and what runs in the browser. What it shows is made in ``views/``."""
