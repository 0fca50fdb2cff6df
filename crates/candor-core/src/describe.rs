//! One sentence for a person.
