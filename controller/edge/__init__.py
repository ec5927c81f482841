"""The HTTP edge: connections, deadlines, and a fair share of threads for every client.

Lives here: the gunicorn worker that receives whole requests before a thread handles them, the
lanes of threads, the choice of a lane for a request, and the addresses of clients behind proxies.
May use: gunicorn and the standard library. Never: Flask, the store, or what a request means.
"""
