//! Lossless coercion of arguments, disclosed.
