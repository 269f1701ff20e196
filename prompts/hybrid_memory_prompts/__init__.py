"""The templates of prompts and resources (``*.md.j2``), and the one module that renders them (``render.py``)."""
