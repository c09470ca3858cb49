//! Answers requests.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::Router;
use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{StatusCode, Uri};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use proofwarp_circom::{ProofTexts, Witness};
use serde_json::json;

use super::access::{AccessRules, check_access};
use super::body;
use super::circuit::Circuit;
use super::failure::Failure;
use super::metrics::{self, Rejections};
use super::queue::ProofQueue;

const JSON: [(axum::http::HeaderName, &str); 1] = [(CONTENT_TYPE, "application/json")];
const PROMETHEUS: [(axum::http::HeaderName, &str); 1] = [(CONTENT_TYPE, "text/plain; version=0.0.4")];

/// Name of a witness in errors.
const WITNESS: &str = "body";

/// Holds what requests share.
#[derive(Debug)]
pub(super) struct ServerState {
    /// The device or the devices that prove.
    pub backend: String,
    pub circuits: Vec<Arc<Circuit>>,
    pub queue: ProofQueue,
    /// Maximum number of bytes of a body.
    pub max_body: usize,
    pub rejections: Rejections,
}

/// Returns the service, which checks each request by `rules` first.
pub(super) fn router(state: Arc<ServerState>, rules: AccessRules) -> Router {
    let routes = Router::new()
        .route("/prove/{circuit}", post(prove))
        .route("/health", get(health))
        .route("/metrics", get(metrics))
        .fallback(not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .with_state(state.clone());
    let cors = rules.cors();
    // The layer that is added last sees a request first.
    let routes = routes.layer(cors).layer(from_fn_with_state(Arc::new(rules), check_access));
    routes.layer(from_fn_with_state(state, count_rejection))
}

/// Passes `request` on, and counts it if its answer says that it reached no circuit.
async fn count_rejection(State(state): State<Arc<ServerState>>, request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    state.rejections.count(response.status());
    response
}

async fn prove(
    State(state): State<Arc<ServerState>>,
    name: Result<Path<String>, PathRejection>,
    body: Body,
) -> Response {
    let Ok(Path(name)) = name else {
        let text = "circuit: expected a name in UTF-8";
        return Failure::NotFound(StatusCode::NOT_FOUND, text.to_owned()).into_response();
    };
    let Some(circuit) = state.circuits.iter().find(|circuit| circuit.name == name) else {
        let names: Vec<&str> = state.circuits.iter().map(|circuit| circuit.name.as_str()).collect();
        let text = format!("circuit: expected one of {}, got {name:?}", names.join(", "));
        return Failure::NotFound(StatusCode::NOT_FOUND, text).into_response();
    };
    match prove_circuit(&state, circuit, body).await {
        Ok(ProofTexts { proof, public }) => {
            circuit.metrics.proofs.fetch_add(1, Ordering::Relaxed);
            (JSON, format!("{{\"proof\": {proof}, \"public\": {public}}}\n")).into_response()
        }
        Err(failure) => {
            circuit.metrics.count_failure(&failure);
            failure.into_response()
        }
    }
}

/// Receives a witness of `circuit`, and returns its proof. A place in the queue is taken before, so that the queue's
/// capacity bounds memory.
async fn prove_circuit(state: &ServerState, circuit: &Arc<Circuit>, body: Body) -> Result<ProofTexts, Failure> {
    let place = state.queue.reserve(circuit)?;
    let mut bytes = body::receive(body, state.max_body).await?;
    let key = circuit.clone();
    // The place is held as long as the witness, also if the client leaves meanwhile.
    let checked = tokio::task::spawn_blocking(move || {
        let witness = Witness::from_bytes(WITNESS, std::mem::take(&mut *bytes))?;
        witness.check_against(key.key.header())?;
        Ok((place, witness))
    });
    let checked = checked.await.map_err(|error| Failure::Internal(error.to_string()))?;
    let (place, witness) = checked.map_err(|error: proofwarp_circom::Error| Failure::BadWitness(error.to_string()))?;
    state.queue.prove(place, witness).await
}

async fn health(State(state): State<Arc<ServerState>>) -> Response {
    let is_alive = state.queue.is_alive();
    let status = if is_alive { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let text = if is_alive { "ok" } else { "the thread that proves has ended" };
    let circuits: Vec<_> = state.circuits.iter().map(|circuit| describe(circuit)).collect();
    (status, JSON, format!("{}\n", json!({ "status": text, "backend": state.backend, "circuits": circuits })))
        .into_response()
}

fn describe(circuit: &Circuit) -> serde_json::Value {
    let header = circuit.key.header();
    json!({
        "name": circuit.name,
        "curve": header.curve.json_name(),
        "signals": header.signals,
        "public_signals": header.public_signals,
        "domain_size": header.domain_size,
        "device_bytes": circuit.key.device_bytes(),
    })
}

async fn metrics(State(state): State<Arc<ServerState>>) -> Response {
    match metrics::to_text(&state.circuits, &state.rejections) {
        Ok(text) => (PROMETHEUS, text).into_response(),
        Err(error) => Failure::Internal(error.to_string()).into_response(),
    }
}

async fn not_found(uri: Uri) -> Failure {
    let text = format!("path: expected /prove/<circuit>, /health or /metrics, got {:?}", uri.path());
    Failure::NotFound(StatusCode::NOT_FOUND, text)
}

async fn method_not_allowed() -> Failure {
    let text = "method: expected POST for /prove/<circuit>, GET for /health and /metrics";
    Failure::NotFound(StatusCode::METHOD_NOT_ALLOWED, text.to_owned())
}
