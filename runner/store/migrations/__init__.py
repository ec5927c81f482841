"""Steps from one schema to the next, in order; run when the store is opened."""
