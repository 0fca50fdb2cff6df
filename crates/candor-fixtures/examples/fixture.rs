//! Runs one fixture by itself: `cargo run -p candor-fixtures --example fixture -- rooms --truth truth.jsonl`.

use std::{ffi::OsString, process::ExitCode};

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let name = arguments
        .next()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let rest: Vec<OsString> = arguments.collect();
    match candor_fixtures::run(&name, &rest) {
        Ok(code) => std::process::exit(code),
        Err(fault) => {
            #[expect(clippy::print_stderr, reason = "an example program tells its user")]
            {
                eprintln!("fixture: {fault}");
            }
            ExitCode::from(2)
        }
    }
}
