"""What all ways of serving share: opening the memory, worker threads and limits, background work, options, logging of errors."""
