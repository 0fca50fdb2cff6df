//! `candor import` and `candor doctor` on a machine that a test makes up: a home, a project, configs of hosts, and
//! stand-ins for the programs that start servers.

mod doctor;
mod import;
mod machine;
mod manual;
mod sampled;
mod undo;
