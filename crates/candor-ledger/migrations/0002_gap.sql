-- Records that pruning took from within a chain, around an operation that nobody has settled: where they stood, and
-- the two digests that tie what is left on both sides. What went from a chain's beginning stands in `chain`.
CREATE TABLE gap (
    instance       BLOB NOT NULL CHECK (length(instance) = 16),
    first_sequence INTEGER NOT NULL,
    last_sequence  INTEGER NOT NULL CHECK (last_sequence >= first_sequence),
    previous       BLOB NOT NULL CHECK (length(previous) = 32),
    digest         BLOB NOT NULL CHECK (length(digest) = 32),
    PRIMARY KEY (instance, first_sequence)
) STRICT, WITHOUT ROWID;
