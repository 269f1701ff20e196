"""What the page shows, as data: one module a view, each with a function ``load``, and the table of them."""
