//! What is no judged tool call passes byte for byte; of a judged one, only the verdict is added.

mod calls;
mod examples;
mod traffic;
