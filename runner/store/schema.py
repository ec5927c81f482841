"""The tables. A change here comes with a migration beside it; a test compares the two."""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    JSON,
    Boolean,
    CheckConstraint,
    Column,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

from margrave.lifecycle import Kind, Outcome, State
from runner.ports import NodeStatus
from runner.store.types import Moment, Word
from runner.store.values import OperationState

metadata: Final = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# Exactly one row: who this runner is, and its counters. Made once per state folder.
identity = Table(
    "identity",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("runner", String(36), nullable=False),
    Column("epoch", Integer, nullable=False),
    Column("fence_seq", Integer, nullable=False),
    Column("report_seq", Integer, nullable=False),
    CheckConstraint("id = 1", name="one_row"),
)

# Exactly one row: what holds the whole site.
site = Table(
    "site",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("locked", JSON(none_as_null=True)),
    Column("halted", JSON(none_as_null=True)),
    Column("stood_down", Text),
    Column("known_epoch", Integer, nullable=False, default=0),
    Column("accepted_commit", String(64)),
    Column("applied_commit", String(64)),
    CheckConstraint("id = 1", name="one_row"),
)

# The last verified subtree of this site, at age 0.
desired = Table(
    "desired",
    metadata,
    Column("age", Integer, primary_key=True),
    Column("commit", String(64), nullable=False),
    Column("tree", String(200), nullable=False),
    Column("site_document", Text),
    Column("documents", JSON, nullable=False),
    Column("secrets", JSON, nullable=False),  # encrypted files, as they stand in Git
)

nodes = Table(
    "nodes",
    metadata,
    Column("name", String(63), primary_key=True),
    Column("address", String(255), nullable=False),
    Column("port", Integer, nullable=False),
    Column("user", String(64), nullable=False),
    Column("host_key", Text, nullable=False),
    Column("labels", JSON, nullable=False),
    Column("capabilities", JSON, nullable=False),
    Column("drain", Boolean, nullable=False),
    Column("last_seen", Moment),
    Column("status", Word(NodeStatus), nullable=False),
    Column("error", Text, nullable=False),
    Column("problems", JSON, nullable=False),
)

# Nodes whose beacon has a key. Apart from the nodes: a key is told to nobody but that beacon.
beacons = Table(
    "beacons",
    metadata,
    Column("node", String(63), primary_key=True),
    Column("key", String(64), nullable=False),
    Column("old_key", String(64)),
    Column("last_beat", Integer, nullable=False),
    Column("heard_at", Moment),
    Column("boot_id", String(64), nullable=False),
)

placements = Table(
    "placements",
    metadata,
    Column("deployment", String(36), primary_key=True),
    Column("node", String(63), primary_key=True),
    Column("incarnation", Integer, primary_key=True),
    Column("name", String(63), nullable=False),
    Column("state", Word(State), nullable=False),
    Column("outcome", Word(Outcome), nullable=False),
    Column("application", String(200), nullable=False),
    Column("release", String(64)),
    Column("revision", String(71)),
    Column("version", String(128)),
    Column("good_release", String(64)),
    Column("good_revision", String(71)),
    Column("good_version", String(128)),
    Column("wanted_revision", String(71)),
    Column("wanted_version", String(128)),
    Column("tried_release", String(64)),
    Column("operation", String(36)),
    Column("kind", Word(Kind)),
    Column("attempt", Integer, nullable=False),
    Column("next_attempt_at", Moment),
    Column("cancelled", Boolean, nullable=False),
    Column("healing", Boolean, nullable=False),
    Column("keeps_data", Boolean, nullable=False),
    Column("reason", Text, nullable=False),
    Column("error", JSON(none_as_null=True)),
    Column("waiting", JSON(none_as_null=True)),
    Column("health", String(16), nullable=False),
    Column("drift", JSON, nullable=False),
    Column("components", JSON, nullable=False),
    Column("heals", JSON, nullable=False),
    Column("commit", String(64)),
    Column("since", Moment, nullable=False),
    Index("ix_placements_state", "state"),
)

operations = Table(
    "operations",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("deployment", String(36), nullable=False),
    Column("node", String(63), nullable=False),
    Column("incarnation", Integer, nullable=False),
    Column("kind", Word(Kind), nullable=False),
    Column("state", Word(OperationState), nullable=False),
    Column("reason", Text, nullable=False),
    Column("release", String(64)),
    Column("revision", String(71)),
    Column("version", String(128)),
    Column("commit", String(64)),
    Column("attempt", Integer, nullable=False),
    Column("epoch", Integer, nullable=False),
    Column("seq", Integer, nullable=False),
    Column("arguments", JSON, nullable=False),
    Column("phase", String(32), nullable=False),
    Column("tries", Integer, nullable=False),
    Column("next_try_at", Moment),
    Column("deadline", Integer, nullable=False),
    Column("log_file", Text, nullable=False),
    Column("started_at", Moment, nullable=False),
    Column("ended_at", Moment),
    Column("error", JSON(none_as_null=True)),
    UniqueConstraint("epoch", "seq", name="uq_operations_fence"),
    Index("ix_operations_state", "state"),
    Index("ix_operations_placement", "deployment", "node"),
)

quarantine = Table(
    "quarantine",
    metadata,
    Column("deployment", String(36), primary_key=True),
    Column("release", String(64), primary_key=True),
    Column("revision", String(71), nullable=False),
    Column("why", Text, nullable=False),
    Column("since", Moment, nullable=False),
)

outbox = Table(
    "outbox",
    metadata,
    Column("epoch", Integer, primary_key=True),
    Column("seq", Integer, primary_key=True),
    Column("at", Moment, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("data", JSON, nullable=False),
    Column("acked_at", Moment),
    Index("ix_outbox_acked_at", "acked_at"),
)

commands = Table(
    "commands",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("result", String(16), nullable=False),
    Column("detail", Text, nullable=False),
    Column("handled_at", Moment, nullable=False),
)
