//! A server that books meeting rooms, over stdio: `cargo run -p candor --example rooms`.
//!
//! Its backend is an HTTP API with problem details, started beside it on a free port of this machine, which is told on
//! stderr. What the backend does next can be asked for, at the start or while it runs:
//!
//! ```sh
//! cargo run -p candor --example rooms -- bookings=close-after
//! curl -X POST http://127.0.0.1:PORT/faults/notices/503
//! ```
//!
//! Places are `rooms`, `bookings` and `notices`; the faults are in `server/fault.rs`. Each fault happens once.

#![expect(
    clippy::print_stderr,
    reason = "stdout is the protocol's own pipe; a person reads stderr"
)]

mod server;

use std::time::Duration;

use anyhow::Context as _;
use rmcp::ServiceExt as _;

use server::{Backend, Desk, Fault, Place};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let backend = Backend::default();
    for argument in std::env::args().skip(1) {
        let (place, fault) = argument.split_once('=').context("an argument is PLACE=FAULT")?;
        let place = Place::parse(place).with_context(|| format!("no such place: {place}"))?;
        backend.fail(
            place,
            Fault::parse(fault).with_context(|| format!("no such fault: {fault}"))?,
        );
    }
    let base = backend.serve().await?;
    eprintln!("rooms: the backend is at {base}; waiting for a client on stdin. It ends when stdin does.");
    let desk = Desk::new(base, Duration::from_secs(10))?;
    let server = server::tools(desk).build()?;
    let running = Box::pin(server.serve(rmcp::transport::stdio())).await?;
    running.waiting().await?;
    let (bookings, notices) = backend.counts();
    eprintln!("rooms: {bookings} bookings and {notices} notices were really made.");
    Ok(())
}
