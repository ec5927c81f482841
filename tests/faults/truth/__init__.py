"""Truth test: comparison of claims with observations while a fleet breaks and changes.

`world.py` holds a real controller, real site runners and lab nodes; `deeds.py` breaks and changes
them at random; `observed.py` reads the nodes and Git directly; `claims.py` reads the API, the
command and the pages; `rules.py` compares the two; `judge.py` counts for how long a claim stays
false, and `delays.py` holds how long it may, as docs/delays.md documents it.
`python -m tests.faults truth` runs all of it for half an hour and keeps the figures.
"""
