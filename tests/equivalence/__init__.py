"""Fresh-install equivalence: however a release came to run, it runs as on an empty node.

`releases.py` holds Compose releases as values, `stories.py` generates sequences of them with
faults and repairs in between, `oracle.py` leads a story on one node and installs each release
afresh on another one. After each step the containers of both must be equal in everything their
engine tells of them and in the content behind their mounts; containers of services that did not
change must be the same ones as before, and every mount source must be there.
`python -m tests.equivalence` leads as many stories as asked for, and keeps the figures.
"""
