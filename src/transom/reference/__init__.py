"""The reference engine: the definitions of the documents made executable, slow and obvious, in plain Python.

Nothing here is optimised and nothing imports an engine. Other engines are held equal to this one.
"""
