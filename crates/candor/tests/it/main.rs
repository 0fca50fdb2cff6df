//! The library over a real rmcp client: stdio and streamable HTTP, both eras.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may fail by panicking, in its shared parts too"
)]

mod arguments;
mod asking;
mod broken;
mod faults;
mod flight;
mod http;
mod incidents;
mod methods;
mod outcomes;
mod plain;
mod principals;
mod rooms;
mod rooms_example;
mod setting_up;
mod tasking;
mod tasks;
mod tasks_bounds;
mod tasks_http;
mod tasks_legacy;
mod tasks_modern;
mod ways;
