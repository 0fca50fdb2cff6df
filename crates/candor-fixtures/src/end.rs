//! How a fixture ends or stops itself before its time.

use std::process::Command;

use crate::script::Death;

/// Ends this process at once; nothing that is queued is written.
pub(crate) fn end(death: Death) -> ! {
    match death {
        Death::Exit(code) => std::process::exit(code),
        Death::Kill => {
            signal("KILL");
            // Only where there is no shell: the code that a shell would report for SIGKILL.
            std::process::exit(137)
        }
    }
}

/// Stops this process as it is. Who waits for it must kill it.
pub(crate) fn freeze() {
    signal("STOP");
}

/// Signals can't be raised from safe Rust, so a shell does it: `kill` is built into every one.
fn signal(name: &str) {
    let kill = format!("kill -{name} {}", std::process::id());
    let _ = Command::new("/bin/sh").args(["-c", &kill]).status();
}
