//! The library over a real rmcp client: stdio and streamable HTTP, both eras.

mod flight;
mod incidents;
mod ways;
