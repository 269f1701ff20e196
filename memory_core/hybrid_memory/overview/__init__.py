"""What a whole namespace looks like: counts and pictures over all of its memories. Pure.

`MemoryService.look` hands these functions the columns of the search index; whoever shows them is above the service.
"""
