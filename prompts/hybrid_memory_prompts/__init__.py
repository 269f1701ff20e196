"""Templates, and the one place that renders them."""
