//! What one tool promises: schemas declared by the server plus what an operator configured.

pub mod clauses;
pub mod effect;
pub mod lower;
pub mod mapping;
pub mod recovery;
pub mod rules;
pub mod schema;
pub mod terms;
pub mod text;
pub mod tool;
