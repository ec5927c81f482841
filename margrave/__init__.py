"""The language both sides speak: Margo documents, digests, the life cycle, placement, planning.

May use the standard library's pure part, pydantic and a YAML parser: text in, values out.
Never touches disk, network, clock or environment; whoever calls hands those in as values.
The operator's command lives below, in `margrave.cli`, a room of its own.
"""

__version__ = "0.1.0"
