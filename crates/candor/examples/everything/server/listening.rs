//! The server on a port of loopback.

use candor::carry::CarryLayer;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tower_layer::Layer as _;

use super::everything::Everything;

/// Browsers that may call: pages of this machine. Without a list rmcp asks no browser where its page came from.
const ORIGINS: [&str; 3] = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];

/// Listens on this port of 127.0.0.1, or on any free one for 0, until the process ends; gives the URL.
pub(crate) async fn listen(port: u16) -> anyhow::Result<String> {
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    let url = format!("http://{}/mcp", listener.local_addr()?);
    let server = Everything::declared().build()?;
    let config = StreamableHttpServerConfig::default().with_allowed_origins(ORIGINS);
    let service = StreamableHttpService::new(
        move || Ok(server.clone()),
        LocalSessionManager::default().into(),
        config,
    );
    let routes = axum::Router::new().nest_service("/mcp", CarryLayer::default().layer(service));
    tokio::spawn(async move { axum::serve(listener, routes).await });
    Ok(url)
}
