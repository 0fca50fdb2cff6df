//! Tests of the library from outside: over real clients, real servers, real sockets.

mod http;
