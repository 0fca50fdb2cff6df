//! Rules on arguments that a schema can't say: CEL expressions with a message.
