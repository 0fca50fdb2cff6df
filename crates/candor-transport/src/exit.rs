//! How a child process ended.

use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// How a child process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Exit {
    /// It exited by itself with this code.
    Code(i32),
    /// It was ended by this signal.
    Signal(i32),
    /// Its end can't be known: another part of the process has asked for it first, or it did not end even
    /// after SIGKILL within the time given.
    Lost,
}

impl Exit {
    /// The code a shell would report: the child's own, 128 and the number of the signal, 255 if it is lost.
    pub fn shell_code(self) -> i32 {
        match self {
            Self::Code(code) => code,
            Self::Signal(signal) => signal.saturating_add(128),
            Self::Lost => 255,
        }
    }
}

impl From<ExitStatus> for Exit {
    fn from(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Code(code),
            (None, Some(signal)) => Self::Signal(signal),
            (None, None) => Self::Lost,
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit {code}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
            Self::Lost => f.write_str("exit unknown"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_end_has_a_code_and_a_name() {
        let cases = [
            (ExitStatus::from_raw(0), Exit::Code(0), 0, "exit 0"),
            (ExitStatus::from_raw(137 << 8), Exit::Code(137), 137, "exit 137"),
            (ExitStatus::from_raw(9), Exit::Signal(9), 137, "signal 9"),
            (ExitStatus::from_raw(15), Exit::Signal(15), 143, "signal 15"),
            (ExitStatus::from_raw(0x7f), Exit::Lost, 255, "exit unknown"),
        ];
        for (status, exit, code, name) in cases {
            assert_eq!(
                (Exit::from(status), exit.shell_code()),
                (exit, code),
                "{status:?}"
            );
            assert_eq!(exit.to_string(), name);
        }
    }
}
