"""Margo's documents and our own: read exactly, refused helpfully, written in one way."""
