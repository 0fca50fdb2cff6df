//! Compiled JSON Schemas: offline, bounded, by declared dialect.
