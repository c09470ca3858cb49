//! Receives witnesses.

use std::time::Duration;

use axum::body::{Body, HttpBody};
use http_body_util::BodyExt;
use tokio::time::timeout;
use zeroize::Zeroizing;

use super::failure::Failure;

/// Maximum time between two parts of a body, 30 s: a client that stalls gives its place in the queue back.
const MAX_PAUSE: Duration = Duration::from_secs(30);

/// Receives `body`, which may have `limit` bytes, in one allocation that is cleared on drop.
///
/// # Errors
/// - [`Failure::TooLarge`]: it has more bytes.
/// - [`Failure::Timeout`]: nothing came for 30 s.
/// - [`Failure::BadWitness`]: the connection ended before the body did.
/// - [`Failure::Internal`]: there is too little memory.
pub(super) async fn receive(mut body: Body, limit: usize) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let too_large = |actual: String| Failure::TooLarge(format!("body: expected at most {limit} bytes, got {actual}"));
    let length = body.size_hint().exact();
    // A body without a length may have any up to the limit. Memory that would grow would leave copies.
    let capacity = match length.map(usize::try_from) {
        None => limit,
        Some(Ok(length)) if length <= limit => length,
        Some(_) => return Err(too_large(length.unwrap_or(u64::MAX).to_string())),
    };
    let mut bytes = Zeroizing::new(Vec::new());
    bytes.try_reserve_exact(capacity).map_err(|error| Failure::Internal(format!("body: {error}")))?;
    while let Some(part) = next_part(&mut body).await? {
        if part.len() > capacity - bytes.len() {
            return Err(too_large("more".to_owned()));
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
        assert_eq!(received(streamed(b"12345"), 5).expect("a body").as_slice(), b"12345");
        let error = received(Body::from("123456"), 5).expect_err("too large");
        assert_eq!(error, Failure::TooLarge("body: expected at most 5 bytes, got 6".to_owned()));
        let error = received(streamed(b"123456"), 5).expect_err("too large");
        assert_eq!(error, Failure::TooLarge("body: expected at most 5 bytes, got more".to_owned()));
        assert!(received(Body::empty(), 5).expect("a body").is_empty());
    }
}
