"""What can be seen of a memory, as data: one module a view, with a function ``load`` that the terminal and the inspector call."""
