//! Spans and events of `tracing`, so that a prover's own telemetry shows the engine's operations.
//!
//! Without the feature `tracing`, none of it is compiled.

#[cfg(feature = "tracing")]
pub(crate) use on::{emit_failed_event, emit_finished_event, enter_operation_span};

#[cfg(not(feature = "tracing"))]
pub(crate) use off::{emit_failed_event, emit_finished_event, enter_operation_span};

#[cfg(feature = "tracing")]
mod on {
    use crate::Error;
    use crate::backend::DeviceInfo;
    use crate::report::Report;

    /// Holds the entered span of an operation. The span ends when this value is dropped.
    pub(super) type Span = tracing::span::EnteredSpan;

    /// Creates and enters a span for the operation `name` on `elements` elements. The span ends when the returned
    /// value is dropped.
    pub(crate) fn enter_operation_span(name: &str, elements: usize) -> Span {
        tracing::info_span!(target: "proofwarp", "operation", name, elements).entered()
    }

    /// Emits a tracing event for the operation of `report`, which gave a result.
    pub(crate) fn emit_finished_event(report: &Report) {
        let Report { operation, elements, backend, device, total, traffic, fallbacks } = report;
        tracing::info!(
            target: "proofwarp",
            operation,
            elements,
            %backend,
            device,
            seconds = total.as_secs_f64(),
            upload_seconds = traffic.upload.as_secs_f64(),
            kernels_seconds = traffic.kernels.as_secs_f64(),
            download_seconds = traffic.download.as_secs_f64(),
            bytes_up = traffic.bytes_up,
            bytes_down = traffic.bytes_down,
            fallbacks = fallbacks.len(),
            "finished"
        );
    }

    /// Emits a tracing event for `device`, which gave no result because of `error`.
    pub(crate) fn emit_failed_event(device: &DeviceInfo, error: &Error) {
        tracing::warn!(target: "proofwarp", backend = %device.backend, device = device.name, %error, "failed");
    }
}

#[cfg(not(feature = "tracing"))]
mod off {
    use crate::Error;
    use crate::backend::DeviceInfo;
    use crate::report::Report;

    /// Stands in for an operation's span without the feature `tracing`. It does nothing.
    pub(crate) struct Span;

    pub(crate) fn enter_operation_span(_: &str, _: usize) -> Span {
        Span
    }

    pub(crate) fn emit_finished_event(_: &Report) {}

    pub(crate) fn emit_failed_event(_: &DeviceInfo, _: &Error) {}
}
