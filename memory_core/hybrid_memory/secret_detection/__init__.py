"""Secrets in texts: keys, tokens, passwords and card numbers, found by their shapes or by the words around them. Pure.

`detection.find_secrets` finds them, `masking` puts marks in their place, `secret_policy` is what a store does about them.

Precision comes first: what is found wrongly is hidden from its owner. Every expression looks at a bounded number of characters from a
place that a plain search has found, so the time grows with the length of a text whatever it says.
"""
