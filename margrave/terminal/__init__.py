"""What every command of `margrave` has in common, whichever room brings it.

Lives here: answers as tables, JSON and YAML, the question before what cannot be undone, durations
and other options that read the same everywhere, help with examples. May use: click, rich, and of
`margrave` the errors and the YAML writer. Never: HTTP, files, or what a command does.
"""
