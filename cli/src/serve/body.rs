//! Receives witnesses.

use std::time::Duration;

use axum::body::{Body, HttpBody};
use http_body_util::BodyExt;
use tokio::time::timeout;
use zeroize::Zeroizing;

use super::failure::Failure;

/// Maximum time between two parts of a body, 30 s: a client that stalls gives its place in the queue back.
const MAX_PAUSE: Duration = Duration::from_secs(30);

/// Minimum rate of a body, 1 MiB/s: a client that is slower gives its place back after [`MAX_PAUSE`] more.
const MIN_BYTES_PER_SECOND: u64 = 1 << 20;

/// Receives `body`, which has at most `limit` bytes, in one allocation that is cleared on drop.
///
/// # Errors
/// - [`Failure::LengthRequired`]: its length is not known. Memory for the largest witness would be reserved for it.
/// - [`Failure::TooLarge`]: it has more bytes.
/// - [`Failure::Timeout`]: nothing came for 30 s, or it takes 30 s longer than at 1 MiB/s.
/// - [`Failure::BadWitness`]: the connection ended before the body did.
/// - [`Failure::Internal`]: there is too little memory.
pub(super) async fn receive(body: Body, limit: usize) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let unknown = || Failure::LengthRequired("body: expected a Content-Length, got none".to_owned());
    let length = body.size_hint().exact().ok_or_else(unknown)?;
    let too_large = || Failure::TooLarge(format!("body: expected at most {limit} bytes, got {length}"));
    let capacity = usize::try_from(length).ok().filter(|length| *length <= limit).ok_or_else(too_large)?;
    let time = MAX_PAUSE + Duration::from_secs(length / MIN_BYTES_PER_SECOND);
    let slow = |_| Failure::Timeout(format!("body: expected all of it within {} s", time.as_secs()));
    timeout(time, receive_all(body, capacity)).await.map_err(slow)?
}

/// Receives `body`, which has `length` bytes.
async fn receive_all(mut body: Body, length: usize) -> Result<Zeroizing<Vec<u8>>, Failure> {
    // Memory that would grow would leave copies.
    let mut bytes = Zeroizing::new(Vec::new());
    bytes.try_reserve_exact(length).map_err(|error| Failure::Internal(format!("body: {error}")))?;
    while let Some(part) = next_part(&mut body).await? {
        if part.len() > length - bytes.len() {
            return Err(Failure::TooLarge(format!("body: expected its {length} bytes, got more")));
        }
        bytes.extend_from_slice(&part);
    }
    Ok(bytes)
}

/// Returns the next part of `body`, or `None` at its end.
async fn next_part(body: &mut Body) -> Result<Option<axum::body::Bytes>, Failure> {
    let stalled = |_| Failure::Timeout(format!("body: expected its next part within {} s", MAX_PAUSE.as_secs()));
    match timeout(MAX_PAUSE, body.frame()).await.map_err(stalled)? {
        None => Ok(None),
        Some(Err(error)) => Err(Failure::BadWitness(format!("body: it ended early: {error}"))),
        // Trailers hold no part of the body.
        Some(Ok(frame)) => Ok(Some(frame.into_data().unwrap_or_default())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn received(body: Body, limit: usize) -> Result<Zeroizing<Vec<u8>>, Failure> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        runtime.block_on(receive(body, limit))
    }

    /// Returns a body without a length.
    fn streamed(bytes: &'static [u8]) -> Body {
        Body::new(http_body_util::Full::new(axum::body::Bytes::from_static(bytes)).map_frame(|frame| frame))
    }

    #[test]
    fn bodies_are_limited() {
        assert_eq!(received(Body::from("12345"), 5).expect("a body").as_slice(), b"12345");
        let error = received(Body::from("123456"), 5).expect_err("too large");
        assert_eq!(error, Failure::TooLarge("body: expected at most 5 bytes, got 6".to_owned()));
        let error = received(streamed(b"12345"), 5).expect_err("no length");
        assert_eq!(error, Failure::LengthRequired("body: expected a Content-Length, got none".to_owned()));
        assert!(received(Body::empty(), 5).expect("a body").is_empty());
    }
}
