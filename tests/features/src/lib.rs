//! No code: `Cargo.toml` says what this is for.
