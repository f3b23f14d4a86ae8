//! A web server of a few lines, on this machine, that answers as the test wants.
#![allow(dead_code)] // each test uses a part

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What was asked for: the byte to begin with, where a range was.
pub type Asked = Option<usize>;

pub struct Server {
    pub url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    /// Sends what `answer` makes of the number of the request (from 0) and the range asked for, then hangs up.
    pub fn start(answer: impl Fn(usize, Asked) -> Vec<u8> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}/data.bz2", listener.local_addr().expect("an address"));
        let asked = Arc::new(Mutex::new(vec![]));
        let log = asked.clone();
        // Ends with the test's process.
        std::thread::spawn(move || {
            for connection in listener.incoming() {
                let Ok(mut connection) = connection else { continue };
                let mut range = None;
                for line in BufReader::new(&connection).lines() {
                    let Ok(line) = line else { break };
                    if let Some(start) = line.to_ascii_lowercase().strip_prefix("range: bytes=") {
                        range = start.trim_end_matches('-').parse().ok();
                    }
                    if line.is_empty() {
                        break;
                    }
                }
                let number = {
                    let mut log = log.lock().unwrap();
                    log.push(range);
                    log.len() - 1
                };
                let _ = connection.write_all(&answer(number, range));
            }
        });
        Self { url, asked }
    }

    /// One entry for each request so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// Waits until there were so many requests, up to ten seconds.
    pub fn wait_for_request(&self, number: usize) {
        for _ in 0..1000 {
            if self.asked().len() >= number {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("no request came");
    }
}

fn reply(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status}\r\nConnection: close\r\n{headers}\r\n");
    [head.as_bytes(), body].concat()
}

/// An answer without a file.
pub fn status(line: &str) -> Vec<u8> {
    reply(line, "Content-Length: 0\r\n", b"")
}

/// All of it; `announced` is the length that the server claims.
pub fn whole(contents: &[u8], announced: usize) -> Vec<u8> {
    reply("200 OK", &format!("Content-Length: {announced}\r\n"), contents)
}

/// All of it, without a length: it ends where the connection does.
pub fn unmeasured(contents: &[u8]) -> Vec<u8> {
    reply("200 OK", "", contents)
}

/// As a server answers that knows ranges.
pub fn ranged(contents: &[u8], asked: Asked) -> Vec<u8> {
    let size = contents.len();
    match asked {
        None => whole(contents, size),
        Some(start) if start < size => {
            let headers = format!("Content-Length: {}\r\nContent-Range: bytes {start}-{}/{size}\r\n", size - start, size - 1);
            reply("206 Partial Content", &headers, &contents[start..])
        }
        Some(_) => reply("416 Range Not Satisfiable", &format!("Content-Length: 0\r\nContent-Range: bytes */{size}\r\n"), b""),
    }
}

/// The answer without its last bytes: the connection breaks.
pub fn cut(mut answer: Vec<u8>, missing: usize) -> Vec<u8> {
    answer.truncate(answer.len() - missing);
    answer
}

/// A port where nobody listens.
pub fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    format!("http://{}/data.bz2", listener.local_addr().expect("an address"))
}
