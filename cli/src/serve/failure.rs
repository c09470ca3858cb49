//! Defines the answers to requests that get no proof.

use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// Seconds after which a client may try again when the queue is full.
const RETRY_SECONDS: HeaderValue = HeaderValue::from_static("1");

/// Tells why a request gets no proof. Texts never hold values of a witness.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Failure {
    /// The request names a host or comes from an origin that is not allowed.
    Refused(String),
    /// There is no such path or method.
    NotFound(StatusCode, String),
    /// The body did not arrive, or is no witness of the circuit.
    BadWitness(String),
    /// The body stopped arriving.
    Timeout(String),
    /// The body is larger than the limit.
    TooLarge(String),
    /// The request does not say how long its body is.
    LengthRequired(String),
    /// The queue is full.
    QueueFull(String),
    /// The proof does not verify.
    InvalidProof(String),
    /// The engine failed, or the server has too little memory.
    Internal(String),
}

impl Failure {
    /// Reasons of failed requests for a circuit, as [`Self::reason`] returns them.
    pub(super) const REASONS: [&'static str; 7] =
        ["bad_witness", "timeout", "too_large", "length_required", "queue_full", "invalid_proof", "internal"];

    /// Returns the reason that programs recognise.
    pub(super) fn reason(&self) -> &'static str {
        match self {
            Self::Refused(_) => "refused",
            Self::NotFound(..) => "not_found",
            Self::BadWitness(_) => "bad_witness",
            Self::Timeout(_) => "timeout",
            Self::TooLarge(_) => "too_large",
            Self::LengthRequired(_) => "length_required",
            Self::QueueFull(_) => "queue_full",
            Self::InvalidProof(_) => "invalid_proof",
            Self::Internal(_) => "internal",
        }
    }

    fn status(&self) -> StatusCode {
        match self {
            Self::Refused(_) => StatusCode::FORBIDDEN,
            Self::NotFound(status, _) => *status,
            Self::BadWitness(_) => StatusCode::BAD_REQUEST,
            Self::Timeout(_) => StatusCode::REQUEST_TIMEOUT,
            Self::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::LengthRequired(_) => StatusCode::LENGTH_REQUIRED,
            Self::QueueFull(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::InvalidProof(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    fn text(&self) -> &str {
        match self {
            Self::Refused(text)
            | Self::NotFound(_, text)
            | Self::BadWitness(text)
            | Self::Timeout(text)
            | Self::TooLarge(text)
            | Self::LengthRequired(text)
            | Self::QueueFull(text)
            | Self::InvalidProof(text)
            | Self::Internal(text) => text,
        }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        if let Self::Internal(text) = &self {
            log::error!("{text}");
        }
        let body = format!("{}\n", json!({ "error": self.text(), "reason": self.reason() }));
        let mut response = (self.status(), [(CONTENT_TYPE, "application/json")], body).into_response();
        if matches!(self, Self::QueueFull(_)) {
            response.headers_mut().insert(RETRY_AFTER, RETRY_SECONDS);
        }
        response
    }
}
