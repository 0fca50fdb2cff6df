//! A server that books flights, over stdio: `cargo run -p candor --example flight`.
//!
//! It has one tool, `book_flight`: three letters for each airport, a date in dd/mm/yyyy that must be in the future, 1 to 9
//! passengers. Put the command into a host's config, or speak to it line by line.

#![expect(
    clippy::print_stderr,
    reason = "it tells a person what it is; stdout belongs to the protocol"
)]

mod server;

use std::io::IsTerminal as _;

use rmcp::ServiceExt as _;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    if std::io::stdin().is_terminal() {
        eprintln!("flight: an MCP server, waiting for a client on stdin. It ends when stdin does.");
    }
    let server = server::Flights::declared().build()?;
    let running = Box::pin(server.serve(rmcp::transport::stdio())).await?;
    running.waiting().await?;
    Ok(())
}
