//! Servers that lie in known ways, with the truth written beside them. For the demo and for tests.
