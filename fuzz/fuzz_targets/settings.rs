//! Settings of any values: read, or an error that names the variable.
#![no_main]

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use libfuzzer_sys::fuzz_target;
use proofwarp::settings::Settings;
use proofwarp::settings::table::VARIABLES;

fuzz_target!(|input: (u8, Vec<u8>)| {
    let variable = &VARIABLES[usize::from(input.0) % VARIABLES.len()];
    let value = OsString::from_vec(input.1);
    if let Err(error) = Settings::read(|name| (name == variable.name).then(|| value.clone())) {
        assert!(error.to_string().contains(variable.name), "{error}");
    }
});
