//! Asking over real rmcp clients of both eras, through the smallest wrapper that there can be.

#[expect(deprecated, reason = "log messages are still sent to clients that want them")]
mod client;
mod ends;
mod other;
mod refusals;
mod wrapper;
