"""What a whole namespace looks like from above: when its memories were true and learned, a map of them by meaning, the names in them."""

`MemoryService.look` hands these functions the columns of the search index; whoever shows them is above the service.
"""
