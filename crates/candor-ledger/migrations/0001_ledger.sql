-- The first format. Column order in `record` is deliberate: the body comes last, so that reading a digest
-- never walks the overflow pages of a long body.

CREATE TABLE migration (
    number     INTEGER PRIMARY KEY,
    name       TEXT NOT NULL,
    checksum   BLOB NOT NULL,
    applied_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE meta (
    one        INTEGER PRIMARY KEY CHECK (one = 1),
    major      INTEGER NOT NULL,
    minor      INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    created_by TEXT NOT NULL
) STRICT;

-- One row per instance that ever wrote: the head of its chain, and the checkpoint that pruning left.
CREATE TABLE chain (
    instance       BLOB PRIMARY KEY CHECK (length(instance) = 16),
    sequence       INTEGER NOT NULL,
    digest         BLOB NOT NULL CHECK (length(digest) = 32),
    pruned_through INTEGER NOT NULL DEFAULT 0,
    pruned_digest  BLOB NOT NULL DEFAULT (zeroblob(32)) CHECK (length(pruned_digest) = 32)
) STRICT, WITHOUT ROWID;

-- `position` is the order of commits over all instances; `sequence` the order within one chain.
CREATE TABLE record (
    position  INTEGER PRIMARY KEY,
    instance  BLOB NOT NULL CHECK (length(instance) = 16),
    sequence  INTEGER NOT NULL,
    operation BLOB NOT NULL CHECK (length(operation) = 16),
    phase     INTEGER NOT NULL CHECK (phase IN (0, 1, 2)),
    at_ms     INTEGER NOT NULL,
    unsettled INTEGER NOT NULL CHECK (unsettled IN (0, 1)),
    previous  BLOB NOT NULL CHECK (length(previous) = 32),
    digest    BLOB NOT NULL CHECK (length(digest) = 32),
    server    TEXT NOT NULL,
    tool      TEXT NOT NULL,
    outcome   TEXT,
    effect    TEXT,
    evidence  TEXT,
    body      BLOB NOT NULL,
    UNIQUE (instance, sequence)
) STRICT;

CREATE INDEX record_operation ON record (operation, position);
CREATE INDEX record_at ON record (at_ms);

-- Operations whose last record is an intent. Kept in the transaction that writes the record, so that a start
-- finds what a crash left open without reading the records.
CREATE TABLE open (
    operation BLOB PRIMARY KEY CHECK (length(operation) = 16),
    instance  BLOB NOT NULL CHECK (length(instance) = 16),
    position  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
