//! Records on disk: append-only, chained, on disk before anyone is told.
