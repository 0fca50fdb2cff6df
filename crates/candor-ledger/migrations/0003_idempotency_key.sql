-- Idempotency keys. One row per key that is held: which operation used it first, with which arguments, and the answer
-- that its caller got, for whoever comes again with the same key. The key itself is not kept, only a digest over it and
-- what it is scoped to. Claimed in the transaction that writes the intent; what became of the operation stands in `record`.
CREATE TABLE idempotency_key (
    scope      BLOB PRIMARY KEY CHECK (length(scope) = 32),
    operation  BLOB NOT NULL CHECK (length(operation) = 16),
    arguments  BLOB NOT NULL CHECK (length(arguments) = 32),
    claimed_ms INTEGER NOT NULL,
    kept_ms    INTEGER,
    answer     BLOB
) STRICT;
