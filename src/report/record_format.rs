//! Formats the record of an operation, as a line of text or of JSON.

use serde_json::{Value, json};

use super::operation_report::Report;
use crate::Error;
use crate::backend::DeviceInfo;

/// Holds one record for the log and for the report file.
pub(super) enum LogRecord<'a> {
    /// An operation gave a result.
    Finished(&'a Report),
    /// A device gave no result for an operation of `elements` elements.
    Failed { operation: &'a str, elements: usize, device: &'a DeviceInfo, error: &'a Error },
    /// Text of a failure that no operation noticed, such as a proof that does not verify.
    Complaint(&'a str),
}

impl LogRecord<'_> {
    /// Returns the record as one line of text, without a line break.
    pub(super) fn format_line(&self) -> String {
        let line = match self {
            Self::Finished(report) => report.to_string(),
            Self::Failed { operation, elements, device, error } => {
                let (backend, name) = (device.backend, &device.name);
                format!("{operation} of {elements} on {backend} ({name}): no result: {error}")
            }
            Self::Complaint(text) => (*text).to_owned(),
        };
        line.replace('\n', " ")
    }

    /// Returns the record as a JSON object. Times are in seconds. On the CPU, all times but the total are 0.
    pub(super) fn json(&self) -> Value {
        match self {
            Self::Finished(report) => report_json(report),
            Self::Failed { operation, elements, device, error } => json!({
                "operation": operation,
                "elements": elements,
                "backend": device.backend.to_string(),
                "device": device.name,
                "error": error.to_string(),
            }),
            Self::Complaint(text) => json!({ "error": text }),
        }
    }
}

fn report_json(report: &Report) -> Value {
    let Report { operation, elements, backend, device, total, traffic, fallbacks } = report;
    json!({
        "operation": operation,
        "elements": elements,
        "backend": backend.to_string(),
        "device": device,
        "seconds": total.as_secs_f64(),
        "upload_seconds": traffic.upload.as_secs_f64(),
        "kernels_seconds": traffic.kernels.as_secs_f64(),
        "download_seconds": traffic.download.as_secs_f64(),
        "compile_seconds": traffic.compile.as_secs_f64(),
        "bytes_up": traffic.bytes_up,
        "bytes_down": traffic.bytes_down,
        "launches": traffic.launches,
        "fallbacks": fallbacks,
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::BackendKind;
    use crate::backend::StreamStats;

    #[test]
    fn lines_are_one_line_and_objects_have_numbers() {
        let report = Report {
            operation: "msm pallas".to_owned(),
            elements: 7,
            backend: BackendKind::OpenCl,
            device: "a card".to_owned(),
            total: Duration::from_millis(1500),
            traffic: StreamStats { bytes_up: 224, ..StreamStats::default() },
            fallbacks: vec!["no\ndriver".to_owned()],
        };
        let entry = LogRecord::Finished(&report);
        assert!(
            entry.format_line().starts_with("msm pallas of 7 on opencl (a card): 1.500s"),
            "{}",
            entry.format_line()
        );
        assert!(entry.format_line().ends_with("; fell back: no driver"), "{}", entry.format_line());
        let object: Value = serde_json::from_str(&entry.json().to_string()).expect("JSON");
        assert_eq!(
            (&object["seconds"], &object["elements"], &object["bytes_up"]),
            (&json!(1.5), &json!(7), &json!(224))
        );
        assert_eq!(object["fallbacks"], json!(["no\ndriver"]));
        assert!(!entry.json().to_string().contains('\n'));
        assert_eq!(LogRecord::Complaint("a\nb").json(), json!({ "error": "a\nb" }));
    }
}
