"""Migrations of the controller's database, forward only."""
