//! The text of a panic.

use std::any::Any;

/// Returns the message of a caught `panic`, or a fixed text if it has none.
pub fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("it said nothing")
}
