"""What can be seen of a memory, as data.

One module a view, each with a function ``load`` that the page, ``.json`` addresses and the terminal share.
"""
