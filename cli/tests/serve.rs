//! `proofwarp serve` as its clients see it.
#![cfg(unix)]

mod common;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use common::{Files, PROOFWARP, PUBLIC, WTNS, broken_witness, command, verifies};
use serde_json::Value;

/// Longest time that something may take which has no error of its own.
const PATIENCE: Duration = Duration::from_secs(60);

struct Server {
    child: Child,
    address: String,
    _stdout: BufReader<ChildStdout>,
    _files: Files,
}

impl Server {
    fn start(options: &[&str]) -> Self {
        Self::start_with(options, &[])
    }

    /// Starts a server with environment variables.
    fn start_with(options: &[&str], variables: &[(&str, &str)]) -> Self {
        let files = Files::new();
        let mut command = command(PROOFWARP);
        command.envs(variables.iter().copied());
        command.args(["serve", "--listen", "127.0.0.1:0"]).args(options).arg(files.path("multiplier.zkey"));
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the program runs");
        let mut stdout = BufReader::new(child.stdout.take().expect("its output"));
        let mut line = String::new();
        stdout.read_line(&mut line).expect("a line");
        let address = line.trim().strip_prefix("listening on http://").expect("an address").to_owned();
        Self { child, address, _stdout: stdout, _files: files }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).expect("a time");
        stream
    }

    /// Sends the first part of a request: all but the body.
    fn send_head(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> TcpStream {
        let host = ("Host", self.address.as_str());
        let host = headers.iter().all(|(name, _)| *name != host.0).then_some(&host);
        let lines = headers.iter().chain(host).map(|(name, value)| format!("{name}: {value}\r\n"));
        let head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n{}", lines.collect::<String>());
        let mut stream = self.connect();
        stream.write_all((head + "\r\n").as_bytes()).expect("a request");
        stream
    }

    fn get(&self, path: &str) -> Answer {
        Answer::read(self.send_head("GET", path, &[]))
    }

    fn post(&self, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let length = body.len().to_string();
        let mut stream = self.send_head("POST", path, &[headers, &[("Content-Length", &length)]].concat());
        // A server that refuses the request may not read it.
        let _ = stream.write_all(body);
        Answer::read(stream)
    }

    fn prove(&self, body: &[u8]) -> Answer {
        self.post("/prove/multiplier", &[], body)
    }

    /// Waits until `/metrics` has `line`.
    fn await_metric(&self, line: &str) {
        let start = Instant::now();
        while !self.get("/metrics").body.lines().any(|found| found == line) {
            assert!(start.elapsed() < PATIENCE, "{line}");
            thread::sleep(Duration::from_millis(10));
        }
    }

    fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-s", name, &pid]).status().expect("kill").success());
    }

    fn wait(&mut self) -> ExitStatus {
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("a status") {
                return status;
            }
            assert!(start.elapsed() < PATIENCE, "the server does not end");
            thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[derive(Debug)]
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn read(mut stream: TcpStream) -> Self {
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("an answer");
        let (head, body) = text.split_once("\r\n\r\n").expect("a head");
        let status = head.split(' ').nth(1).expect("a status").parse().expect("a number");
        Self { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Checks that this is the error `status` with a JSON object that has `reason`, and `part` in its text.
    #[track_caller]
    fn expect_error(&self, status: u16, reason: &str, part: &str) {
        let json = self.json();
        assert_eq!((self.status, json["reason"].as_str()), (status, Some(reason)), "{self:?}");
        assert!(json["error"].as_str().is_some_and(|text| text.contains(part)), "{part}: {self:?}");
    }

    #[track_caller]
    fn expect_proof(&self) {
        assert_eq!(self.status, 200, "{self:?}");
        let json = self.json();
        assert_eq!(json["public"], serde_json::json!(PUBLIC));
        assert_eq!(json["proof"]["protocol"], "groth16");
        assert!(verifies(&json["proof"].to_string(), &json["public"].to_string()), "{self:?}");
    }
}

#[test]
fn witnesses_are_proved_and_counted() {
    let server = Server::start(&[]);
    server.prove(WTNS).expect_proof();
    thread::scope(|scope| {
        for index in 0..8 {
            let server = &server;
            scope.spawn(move || match index {
                3 => server.prove(&broken_witness()).expect_error(422, "invalid_proof", "does not verify"),
                _ => server.prove(WTNS).expect_proof(),
            });
        }
    });
    let health = server.get("/health");
    assert_eq!((health.status, &health.json()["status"]), (200, &Value::from("ok")), "{health:?}");
    assert_eq!(health.json()["circuits"][0]["name"], "multiplier");
    assert_eq!(health.json()["backend"], "cpu (host)");
    let metrics = server.get("/metrics");
    assert!(metrics.head.contains("content-type: text/plain; version=0.0.4"), "{metrics:?}");
    for line in [
        "proofwarp_proofs_total{circuit=\"multiplier\"} 8",
        "proofwarp_failures_total{circuit=\"multiplier\",reason=\"invalid_proof\"} 1",
        "proofwarp_failures_total{circuit=\"multiplier\",reason=\"queue_full\"} 0",
        "proofwarp_queue_length{circuit=\"multiplier\"} 0",
        "proofwarp_prove_seconds_count{circuit=\"multiplier\"} 9",
        "proofwarp_wait_seconds_bucket{circuit=\"multiplier\",le=\"+Inf\"} 9",
    ] {
        assert!(metrics.body.lines().any(|found| found == line), "{line}: {}", metrics.body);
    }
}

#[test]
fn pages_of_browsers_are_refused() {
    let server = Server::start(&["--allow-host", "prover.internal", "--allow-origin", "https://app.example"]);
    for host in ["evil.example", "localhost.evil.example", "192.0.2.1"] {
        let answer = server.post("/prove/multiplier", &[("Host", host)], WTNS);
        answer.expect_error(403, "refused", "Host: expected this server's");
    }
    for host in ["localhost", "prover.internal:80"] {
        server.post("/prove/multiplier", &[("Host", host)], WTNS).expect_proof();
    }
    for origin in ["https://evil.example", "null", "http://localhost"] {
        let answer = server.post("/prove/multiplier", &[("Origin", origin)], WTNS);
        answer.expect_error(403, "refused", "Origin: expected none");
        assert!(!answer.head.contains("access-control-allow-origin"), "{answer:?}");
    }
    let allowed = [("Origin", "https://app.example")];
    let answer = server.post("/prove/multiplier", &allowed, WTNS);
    answer.expect_proof();
    assert!(answer.head.contains("access-control-allow-origin: https://app.example"), "{answer:?}");
    let asked = [allowed[0], ("Access-Control-Request-Method", "POST")];
    let answer = Answer::read(server.send_head("OPTIONS", "/prove/multiplier", &asked));
    assert!(answer.status == 200 && answer.head.contains("access-control-allow-methods: get,post"), "{answer:?}");
    let asked = [("Origin", "https://evil.example"), asked[1]];
    Answer::read(server.send_head("OPTIONS", "/prove/multiplier", &asked)).expect_error(403, "refused", "Origin");
}

#[test]
fn bad_requests_are_told_why() {
    let server = Server::start(&[]);
    server.post("/prove/other", &[], WTNS).expect_error(404, "not_found", "expected one of multiplier, got \"other\"");
    server.get("/").expect_error(404, "not_found", "/prove/<circuit>");
    server.post("/prove/%FF", &[], WTNS).expect_error(404, "not_found", "expected a name in UTF-8");
    server.get("/prove/multiplier").expect_error(405, "not_found", "POST");
    server.await_metric("proofwarp_rejections_total{reason=\"not_found\"} 4");
    server.await_metric("proofwarp_rejections_total{reason=\"refused\"} 0");
    server.prove(b"").expect_error(400, "bad_witness", "body: header of the file: ");
    server.prove(&WTNS[..150]).expect_error(400, "bad_witness", "body: section 2 (values): length: ");
    // nWitness, and the length of the values' section.
    let mut other = WTNS[..WTNS.len() - 32].to_vec();
    other[60] = 3;
    other[68] = 96;
    server.prove(&other).expect_error(400, "bad_witness", "expected the 4 values of the key's signals, got 3");
    server.prove(&broken_witness()).expect_error(422, "invalid_proof", "body: the proof does not verify");
    let long = [WTNS, &[0]].concat();
    server.prove(&long).expect_error(413, "too_large", "body: expected at most 204 bytes, got 205");
    // The server answers the head, and may close before a chunk is written.
    let chunked = server.send_head("POST", "/prove/multiplier", &[("Transfer-Encoding", "chunked")]);
    Answer::read(chunked).expect_error(411, "length_required", "expected a Content-Length, got none");
    server.prove(WTNS).expect_proof();
}

#[test]
fn limits_are_options() {
    let server = Server::start(&["--max-body", "100"]);
    server.prove(WTNS).expect_error(413, "too_large", "expected at most 100 bytes, got 204");
}

#[test]
fn a_full_queue_is_told() {
    let server = Server::start(&["--queue", "1"]);
    let mut first = server.send_head("POST", "/prove/multiplier", &[("Content-Length", "204")]);
    server.await_metric("proofwarp_queue_length{circuit=\"multiplier\"} 1");
    let answer = server.prove(WTNS);
    answer.expect_error(503, "queue_full", "expected a free place, but all 1 are taken");
    assert!(answer.head.contains("retry-after: 1"), "{answer:?}");
    first.write_all(WTNS).expect("a body");
    Answer::read(first).expect_proof();
    server.prove(WTNS).expect_proof();
    // A client that goes gives its place back.
    let second = server.send_head("POST", "/prove/multiplier", &[("Content-Length", "204")]);
    server.await_metric("proofwarp_queue_length{circuit=\"multiplier\"} 1");
    drop(second);
    server.await_metric("proofwarp_queue_length{circuit=\"multiplier\"} 0");
    server.prove(WTNS).expect_proof();
}

/// Drivers are loaded too: LLVM, which PoCL contains, has handlers of its own.
#[test]
fn requests_in_progress_are_finished() {
    let any = [("PROOFWARP_BACKEND", ""), ("PROOFWARP_OPENCL_CPU", "1")];
    for (signal, variables) in [("INT", &[][..]), ("TERM", &[]), ("TERM", &any[..1]), ("INT", &any), ("TERM", &any)] {
        let mut server = Server::start_with(&[], variables);
        if !variables.is_empty() {
            server.prove(WTNS).expect_proof();
        }
        let mut stream = server.send_head("POST", "/prove/multiplier", &[("Content-Length", "204")]);
        stream.write_all(&WTNS[..100]).expect("a part");
        server.await_metric("proofwarp_queue_length{circuit=\"multiplier\"} 1");
        server.signal(signal);
        let start = Instant::now();
        while TcpStream::connect(&server.address).is_ok() {
            assert!(start.elapsed() < PATIENCE, "connections are still accepted");
            thread::sleep(Duration::from_millis(10));
        }
        stream.write_all(&WTNS[100..]).expect("the rest");
        Answer::read(stream).expect_proof();
        assert_eq!(server.wait().code(), Some(0), "{signal} {variables:?}");
    }
}

/// The OpenCL loader waits for a pipe without a writer, in place of a file that names a driver.
#[test]
fn a_signal_ends_the_start() {
    let files = Files::new();
    let pipe = files.path("driver.icd");
    assert!(Command::new("mkfifo").arg(pipe).status().expect("mkfifo").success());
    let free =
        std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").to_string();
    let mut command = command(PROOFWARP);
    command.env("PROOFWARP_BACKEND", "").env("OCL_ICD_VENDORS", files.folder());
    command.args(["serve", "--listen", &free]).arg(files.path("multiplier.zkey")).stdout(Stdio::piped());
    let mut child = command.spawn().expect("the program runs");
    let stdout = BufReader::new(child.stdout.take().expect("its output"));
    let mut server = Server { child, address: free, _stdout: stdout, _files: files };
    let start = Instant::now();
    while TcpStream::connect(&server.address).is_err() {
        assert!(start.elapsed() < PATIENCE, "it does not listen");
        thread::sleep(Duration::from_millis(10));
    }
    // Handlers follow the listener.
    thread::sleep(Duration::from_millis(500));
    server.signal("TERM");
    assert_eq!(server.wait().code(), Some(0));
}

#[test]
fn a_second_signal_ends_at_once() {
    let mut server = Server::start(&[]);
    let _stalled = server.send_head("POST", "/prove/multiplier", &[("Content-Length", "204")]);
    server.await_metric("proofwarp_queue_length{circuit=\"multiplier\"} 1");
    server.signal("TERM");
    while TcpStream::connect(&server.address).is_ok() {
        thread::sleep(Duration::from_millis(10));
    }
    server.signal("TERM");
    assert_eq!(server.wait().code(), Some(0));
}

#[test]
fn faults_at_the_start_are_told() {
    let files = Files::new();
    std::fs::create_dir(files.path("other")).expect("a folder");
    files.write("other/multiplier.zkey", common::ZKEY);
    let listening = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let taken = listening.local_addr().expect("an address").to_string();
    for (arguments, part) in [
        (
            &["multiplier.zkey", "other/multiplier.zkey"][..],
            "other/multiplier.zkey: expected another name than multiplier",
        ),
        (&["--listen", "127.0.0.1:0", "witness.wtns"], "witness.wtns: header of the file: magic"),
        (&["--listen", "127.0.0.1:0", "none.zkey"], "none.zkey: cannot be read"),
        (&["--listen", &taken, "multiplier.zkey"], taken.as_str()),
        (&["--allow-origin", "*", "multiplier.zkey"], "--allow-origin: expected one such as"),
    ] {
        let output = command(PROOFWARP).arg("serve").args(arguments).current_dir(files.folder()).output();
        let output = output.expect("the program runs");
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains(part), "{part}: {text}");
    }
}
