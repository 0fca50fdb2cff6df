//! Frames on the wire: bounded lines, child processes, own pipes.
//!
//! This crate carries MCP's stdio transport and knows nothing of what it carries: no JSON, no method, no call.
//! One line is one [`Frame`]. What is read comes out of a [`FrameReader`], what is written goes into a
//! [`FrameSink`], and the two never wait for each other: a sink writes in a task of its own, so a peer that has
//! stopped reading can still be read from.
//!
//! Three promises hold everything above up:
//!
//! - A frame is bounded. A line beyond the limit becomes [`Frame::Oversized`], and the next line is whole again.
//! - [`FrameSink::begun`] is never too low: a frame with a higher number has not left this process, and one that
//!   was taken back with [`FrameSink::withdraw`] never will.
//! - A child ends with all its descendants in its process group, within the time of its [`Grace`].
//!
//! Deliberately absent: any retry, any reconnect, any decision about what a lost frame means. Nothing here sends
//! a byte twice. There is no support for Windows yet: process groups and pipes are those of Unix.

#[cfg(not(unix))]
compile_error!(
    "candor-transport needs process groups and pipes as Unix has them; Windows is not supported yet"
);

mod child;
mod exit;
mod frame;
mod group;
mod noise;
mod own;
mod process;
mod queue;
mod reader;
mod sink;

pub use child::{Child, ChildCommand, Limits, SpawnFault, spawn};
pub use exit::Exit;
pub use frame::{DEFAULT_FRAME_LIMIT, Frame, OVERSIZED_HEAD};
pub use noise::{Noise, NoiseLog, preview};
pub use own::{OwnInput, OwnPipes, own_pipes};
pub use process::{ChildProcess, Grace};
pub use queue::FrameNumber;
pub use reader::FrameReader;
pub use sink::{FrameSink, SinkClosed};
