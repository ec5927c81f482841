"""Makes what runs equal to what is wanted: ticks, operations, retries, going back.

Lives here: the tick and its steps, arguments of operations, settling of results, drift, commands.
May use `margrave`, `runner.ports`, `runner.store`, `runner.source`; everything else is handed in.
Never talks to a node, to Git or to the controller by itself. What is to be done is decided by
`margrave.planner`, a pure function; which state follows a result, by `settlement`, another one.
"""
