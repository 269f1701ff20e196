"""What a whole namespace looks like: counts and pictures over all of its memories, a map of them by meaning, the names in them. Pure.

`MemoryService.look` and `Overviews` hand these functions the columns of the search index; whoever shows them is above the service.
"""
