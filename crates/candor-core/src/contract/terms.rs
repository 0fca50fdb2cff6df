//! All clauses that hold for one call, each with where it came from.
