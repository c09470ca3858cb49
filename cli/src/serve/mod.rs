//! Serves proofs over HTTP, with keys that stay on the devices.
//!
//! A request passes [`access`], which refuses pages of a browser, and [`routes`]. `prove` takes a place in the queue,
//! [`body`] receives the witness, and the thread of [`queue`] proves it. [`metrics`] counts, and [`failure`] has the
//! answers to requests without a proof.

mod access;
mod body;
mod circuit;
mod failure;
mod histogram;
mod metrics;
mod queue;
mod routes;
mod signals;

use std::future::IntoFuture;
use std::io::Write;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow};
use axum::Router;
use log::LevelFilter;
use proofwarp::Accelerator;
use tokio::net::TcpListener;
use tokio::runtime;
use tokio::sync::oneshot;

use crate::cli;
use crate::output::{self, say};
use crate::warnings;
use access::AccessRules;
use metrics::Rejections;
use queue::ProofQueue;
use routes::ServerState;
use signals::Signals;

/// Threads that receive requests and send answers. Proofs and witnesses have threads of their own.
const HTTP_THREADS: usize = 2;

/// Runs `proofwarp serve` until a signal ends it.
///
/// # Errors
/// Returns an error if two keys have one name, a key cannot be uploaded, an option names no host or origin, or the
/// address cannot be listened on.
pub fn run(options: &cli::Serve) -> Result<()> {
    warnings::show(LevelFilter::Warn);
    let names = circuit::names(&options.zkeys)?;
    let rules = AccessRules::new(options.listen, &options.allow_host, &options.allow_origin)?;
    let runtime = runtime::Builder::new_multi_thread().worker_threads(HTTP_THREADS).enable_all().build()?;
    let listener = runtime.block_on(listen(options.listen))?;
    // Registered before any driver loads. LLVM, which PoCL contains, installs handlers too. They restore the previous
    // ones and raise the signal again. In the other order tokio's would call LLVM's, which end the process.
    let signals = runtime.block_on(async { Signals::new() })?;
    let start = runtime.spawn(end_at_signal());
    let accelerator = Accelerator::from_env()?;
    warnings::warn_without_device(&accelerator);
    let circuits = circuit::load(&accelerator, names)?;
    start.abort();
    let (queue, worker) = ProofQueue::start(options.queue as usize)?;
    let max_body = options.max_body.unwrap_or_else(|| circuit::max_witness_bytes(&circuits));
    let (backend, rejections) = (describe_backend(&accelerator), Rejections::default());
    let state = Arc::new(ServerState { backend, circuits, queue, max_body: usize::try_from(max_body)?, rejections });
    let end = runtime.block_on(serve(listener, routes::router(state, rules), signals))?;
    match end {
        End::Finished => worker.join().map_err(|_| anyhow!("the thread that proves panicked")),
        End::Forced => {
            runtime.shutdown_background();
            Ok(())
        }
    }
}

/// Tells how the server ended.
enum End {
    /// All requests in progress were answered.
    Finished,
    /// A second signal came before.
    Forced,
}

async fn listen(address: SocketAddr) -> Result<TcpListener> {
    TcpListener::bind(address).await.with_context(|| format!("--listen {address}"))
}

/// Ends the process at a signal: while keys are loaded, no request is in progress.
async fn end_at_signal() {
    if let Ok(mut signals) = Signals::new() {
        signals.next().await;
        signals::end_process();
    }
}

/// Returns the device or the devices that prove, such as `cuda (NVIDIA H200)`.
fn describe_backend(accelerator: &Accelerator) -> String {
    let devices = accelerator.devices().iter().map(|device| device.info());
    let names: Vec<_> = devices.map(|info| format!("{} ({})", info.backend, info.name)).collect();
    if names.is_empty() { "cpu (host)".to_owned() } else { names.join(", ") }
}

/// Answers requests until one of `signals` comes, and then those in progress.
async fn serve(listener: TcpListener, router: Router, mut signals: Signals) -> Result<End> {
    let address = listener.local_addr()?;
    let (stop, stopped) = oneshot::channel::<()>();
    let server = axum::serve(listener, router).with_graceful_shutdown(async {
        // A dropped sender stops the server too.
        let _ = stopped.await;
    });
    let mut server = pin!(server.into_future());
    output::print(|out| writeln!(out, "listening on http://{address}"))?;
    tokio::select! {
        ended = &mut server => ended?,
        () = signals.next() => {}
    }
    say("ending after the requests in progress; a second signal ends at once");
    drop(stop);
    tokio::select! {
        ended = &mut server => ended.map(|()| End::Finished).map_err(Into::into),
        () = signals.next() => Ok(End::Forced),
    }
}
