//! The library over a real rmcp client: stdio and streamable HTTP, both eras.

mod arguments;
mod faults;
mod http;
mod methods;
mod outcomes;
mod plain;
mod principals;
mod rooms;
mod ways;
