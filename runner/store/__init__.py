"""The runner's own database: what it did, what it wants, and what it still has to tell.

Lives here: SQLite behind SQLAlchemy, its migrations, and one module per table. May use sqlalchemy,
alembic, `margrave` and `runner.ports`; no other room of the runner imports sqlalchemy.
Never decides: rules about states stand in `margrave.lifecycle`, policy in `runner.reconcile`.
"""

from runner.store.engine import STORAGE_ERRORS, Store, Transaction
from runner.store.values import Operation, OperationState, Placement

__all__ = ["STORAGE_ERRORS", "Operation", "OperationState", "Placement", "Store", "Transaction"]
