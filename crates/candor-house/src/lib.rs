//! Tests of the house: what may depend on what, and what every file must say. They are all in `tests/it`.
