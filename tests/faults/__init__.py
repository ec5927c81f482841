"""Everything that can break while an operation is at work, at every step of it.

`steps.py` names the steps of each operation, `deeds.py` what can break; `matrix.py` crosses them.
A life is one deployment from install to delete, with one fault in each of its operations; a real
runner carries it to a real node, and after each operation it is asked: is the end right, was it
told truthfully, is anything left over, did the old version answer until the switch?
`python -m tests.faults` runs all of it, prints a table and keeps the figures.
"""
