"""The card inside a chat: one HTML document without any address of its own, made of the parts in this folder."""
