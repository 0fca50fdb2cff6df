//! A server that books flights, over stdio: `cargo run -p candor --example flight`.
//!
//! It has one tool, `book_flight`: three letters for each airport, a date in dd/mm/yyyy that must be in the future, 1 to 9
//! passengers. Put the command into a host's config, or speak to it line by line.

mod server;

use std::io::IsTerminal as _;

use rmcp::ServiceExt as _;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    if std::io::stdin().is_terminal() {
        eprintln!("flight: an MCP server, waiting for a client on stdin. It ends when stdin does.");
    }
    let running = server::Flights::declared()
        .build()?
        .serve(rmcp::transport::stdio())
        .await?;
    running.waiting().await?;
    Ok(())
}
