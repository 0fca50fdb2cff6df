//! Our own pipes as real hosts give them, tried in a process whose stdin and stdout they are.

fn main() {}
