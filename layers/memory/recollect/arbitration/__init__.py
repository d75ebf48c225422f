"""Arbitration: which of two conflicting statements counts, merging them, and a tenant's merge rules."""
