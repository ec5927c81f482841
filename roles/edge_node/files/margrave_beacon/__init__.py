"""The beacon of an edge node: it lives, and says so (docs/beacon.md).

Beats to the site's runner as /etc/margrave/beacon.json says, at once when a container of a
deployment has ended or become unhealthy; answers GET /healthz and GET /metrics. The standard
library of Python 3.9, and systemd when it is there; nothing of this is needed to work on a node.
"""

VERSION = "1.0.0"
