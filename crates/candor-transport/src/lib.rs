//! Frames on the wire: bounded lines, child processes, own pipes.
