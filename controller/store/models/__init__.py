"""The tables, by subject; importing this package makes the whole schema known."""

from controller.store.models.access import LoginSession, Token, User
from controller.store.models.catalog import App, AppSource, AppVersion, Component, VersionComponent
from controller.store.models.fleet import Node, Site, SiteToken
from controller.store.models.stream import (
    AuditEntry,
    Command,
    Event,
    Fact,
    RejectedReport,
    ReportCursor,
    Total,
)
from controller.store.models.work import (
    Deployment,
    History,
    Operation,
    OperationLog,
    Placement,
    Request,
    RequestDeployment,
)

__all__ = [
    "App",
    "AppSource",
    "AppVersion",
    "AuditEntry",
    "Command",
    "Component",
    "Deployment",
    "Event",
    "Fact",
    "History",
    "LoginSession",
    "Node",
    "Operation",
    "OperationLog",
    "Placement",
    "RejectedReport",
    "ReportCursor",
    "Request",
    "RequestDeployment",
    "Site",
    "SiteToken",
    "Token",
    "Total",
    "User",
    "VersionComponent",
]
