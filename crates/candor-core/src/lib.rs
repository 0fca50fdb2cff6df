//! What a tool call means: words, verdicts, the judge, the call machine. Pure: no I/O, no clock.
