"""The reference engine: the definitions of the documents as plain Python, slow and obvious.

Nothing here is optimised and nothing imports another engine. Other engines are tested against this one.
"""
