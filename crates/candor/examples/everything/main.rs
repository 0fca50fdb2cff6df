//! A server that has one of everything, for the official conformance suite:
//! `cargo run -p candor --example everything [PORT]`, then point the suite at the URL it prints.

#![expect(clippy::print_stderr, reason = "it tells a person where it is")]

mod server;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let port = std::env::args()
        .nth(1)
        .map(|port| port.parse())
        .transpose()?
        .unwrap_or(0);
    let url = server::listen(port).await?;
    eprintln!("{url}");
    tokio::signal::ctrl_c().await?;
    Ok(())
}
