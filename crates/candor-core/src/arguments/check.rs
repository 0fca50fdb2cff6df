//! Checking arguments against a tool's schema: all issues of a call at once.
