//! A desk for incidents, over HTTP: `cargo run -p candor --example incidents [PORT]`.
//!
//! It prints its URL and a badge for each who may call: ada and bob of one tenant, eve of another. A person who opens what was
//! reported is played by a clock: every few seconds the oldest reported incident is opened.

#![expect(
    clippy::print_stderr,
    reason = "it tells a person where it is and who may call"
)]

mod server;

use std::sync::Arc;
use std::time::Duration;

use candor::carry::CarryLayer;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use server::{Badges, Desk, Log};
use tower_layer::Layer as _;

/// How often somebody looks at what was reported.
const ROUND: Duration = Duration::from_secs(10);

/// How long a step of a diagnosis takes.
const STEP: Duration = Duration::from_secs(2);

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let port: u16 = std::env::args()
        .nth(1)
        .map(|port| port.parse())
        .transpose()?
        .unwrap_or(0);
    let (desk, log) = (Arc::new(Desk::default()), Arc::new(Log::default()));
    let candor = server::server(&desk, &log, STEP)?;
    let sessions = LocalSessionManager::default();
    let config = StreamableHttpServerConfig::default();
    let service = StreamableHttpService::new(move || Ok(candor.clone()), sessions.into(), config);
    // Clients of 2025-11-25 have tasks, too.
    let service = CarryLayer::default().layer(service);
    let (badges, shown) = Badges::issue();
    let routes = server::protected(axum::Router::new().nest_service("/mcp", service), badges);
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    eprintln!("http://{}/mcp", listener.local_addr()?);
    for (who, badge) in shown {
        eprintln!("{who}: Authorization: Bearer {badge}");
    }
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(ROUND).await;
            desk.open_oldest();
        }
    });
    axum::serve(listener, routes).await?;
    Ok(())
}
