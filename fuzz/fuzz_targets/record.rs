//! The target `record` under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| candor_fuzz_programs::hold("record", input));
