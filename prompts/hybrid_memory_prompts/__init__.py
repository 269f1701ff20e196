"""Templates, the one place that renders them, and the smallest agents that use them."""
