//! What a call may do to the world, as far as somebody trusted said.
