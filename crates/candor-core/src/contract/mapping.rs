//! What a server's declared field says about an outcome.
