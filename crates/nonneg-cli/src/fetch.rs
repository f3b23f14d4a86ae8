//! Downloads that survive broken connections: what has arrived stays in a part file, and the next try goes on from there.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::Path;
use std::time::Duration;

use ureq::http::HeaderMap;

use crate::console;
use crate::failure::Failure;

/// To look up the host, to connect, to send the request: each.
const CONTACT_TIME: Duration = Duration::from_secs(20);
/// For the answer to begin, and for each piece of it.
const SILENCE: Duration = Duration::from_secs(60);
/// Before the second try; twice as long before each later one.
const PAUSE: Duration = Duration::from_secs(1);
/// Tries in a row that bring nothing new.
const TRIES: u32 = 4;

const BUFFER: usize = 1 << 16;

const OK: u16 = 200;
const PARTIAL_CONTENT: u16 = 206;
const RANGE_NOT_SATISFIABLE: u16 = 416;

/// Why a try failed.
#[derive(Debug)]
enum Trouble {
    /// Another try may help.
    Passing(String),
    Lasting(String),
}

/// What the server is about to send.
struct Answer {
    /// Where the bytes belong.
    start: u64,
    /// Length of the whole file, where the server says so.
    whole: Option<u64>,
    body: ureq::Body,
}

#[derive(Debug)]
pub struct Downloader {
    agent: ureq::Agent,
    pause: Duration,
}

impl Downloader {
    /// Proxies are taken from the environment.
    pub fn new() -> Self {
        Self::with(ureq::Proxy::try_from_env(), SILENCE, PAUSE)
    }

    fn with(proxy: Option<ureq::Proxy>, silence: Duration, pause: Duration) -> Self {
        let config = ureq::Agent::config_builder()
            .proxy(proxy)
            .http_status_as_error(false)
            .user_agent(concat!("nonneg/", env!("CARGO_PKG_VERSION")))
            .timeout_resolve(Some(CONTACT_TIME))
            .timeout_connect(Some(CONTACT_TIME))
            .timeout_send_request(Some(CONTACT_TIME))
            .timeout_recv_response(Some(silence))
            .timeout_per_read(Some(silence))
            .timeout_per_write(Some(silence));
        Self { agent: config.build().into(), pause }
    }

    /// Brings all of `url` into the file `part`, which may hold the beginning of it. A part that is empty does not stay.
    pub fn download(&self, url: &str, part: &Path, report: nonneg_io::Progress) -> Result<(), Failure> {
        let mut furthest = length(part);
        let mut fruitless = 0;
        // A server that has never answered is not there; one that has may come back.
        let mut answered = false;
        loop {
            let trouble = match self.attempt(url, part, &mut answered, report) {
                Ok(()) => return Ok(()),
                Err(trouble) => trouble,
            };
            let received = length(part);
            fruitless = if received > furthest { 1 } else { fruitless + 1 };
            furthest = furthest.max(received);
            match trouble {
                Trouble::Passing(_) if answered && fruitless < TRIES => std::thread::sleep(self.pause * (1 << (fruitless - 1))),
                Trouble::Passing(reason) | Trouble::Lasting(reason) => {
                    return Err(Failure::new(format!("{url}: cannot download: {reason}{}", how_to_go_on(part))));
                }
            }
        }
    }

    fn attempt(&self, url: &str, part: &Path, answered: &mut bool, report: nonneg_io::Progress) -> Result<(), Trouble> {
        let Some(mut answer) = self.ask(url, part, answered)? else { return Ok(()) };
        let mut reader = answer.body.as_reader();
        let mut buffer = vec![0; BUFFER];
        let mut at = answer.start;
        let mut file = None;
        let cut_short = loop {
            let count = match reader.read(&mut buffer) {
                Ok(0) => break None,
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => break Some(explain(&error.into())),
            };
            let out = match &mut file {
                Some(out) => out,
                // Not before there is something to write.
                None => file.insert(open_part(part, answer.start).map_err(|error| cannot_write(part, &error))?),
            };
            out.write_all(&buffer[..count]).map_err(|error| cannot_write(part, &error))?;
            at += count as u64;
            report(at, answer.whole);
        };
        let of_all = answer.whole.map_or(String::new(), |whole| format!(" of {whole}"));
        if let Some(reason) = cut_short {
            return Err(Trouble::Passing(format!("the connection broke after {at}{of_all} bytes: {reason}")));
        }
        match answer.whole {
            _ if at == 0 => Err(Trouble::Lasting("the server sent an empty file".into())),
            Some(whole) if at < whole => Err(Trouble::Passing(format!("the answer ended after {at}{of_all} bytes"))),
            Some(whole) if at > whole => Err(Trouble::Lasting(format!("the server sent {at} bytes, but had announced {whole}"))),
            _ => file.map_or(Ok(()), |file| file.sync_all()).map_err(|error| cannot_write(part, &error)),
        }
    }

    /// Asks for what is missing. `None` where nothing is.
    fn ask(&self, url: &str, part: &Path, answered: &mut bool) -> Result<Option<Answer>, Trouble> {
        let have = length(part);
        let mut request = self.agent.get(url);
        if have > 0 {
            request = request.header("Range", format!("bytes={have}-"));
        }
        let response = request.call().map_err(|error| judge(&error))?;
        *answered = true;
        let status = response.status().as_u16();
        let range = ContentRange::of(response.headers());
        let body = response.into_body();
        match status {
            // Also where the server knows no ranges: it starts again, and so does the file.
            OK => Ok(Some(Answer { start: 0, whole: body.content_length(), body })),
            PARTIAL_CONTENT if have > 0 && range.start == Some(have) => {
                let whole = range.whole.or(body.content_length().map(|rest| have + rest));
                Ok(Some(Answer { start: have, whole, body }))
            }
            RANGE_NOT_SATISFIABLE if have > 0 && range.whole == Some(have) => Ok(None),
            PARTIAL_CONTENT | RANGE_NOT_SATISFIABLE if have > 0 => {
                // What is here does not fit what is there.
                fs::remove_file(part).map_err(|error| cannot_write(part, &error))?;
                self.ask(url, part, answered)
            }
            _ => Err(Trouble::Lasting(format!("the server answered {}", status_text(status)))),
        }
    }
}

/// `bytes 100-199/200`, or `bytes */200` where the range asked for is not there.
#[derive(Debug, Default, PartialEq)]
struct ContentRange {
    start: Option<u64>,
    whole: Option<u64>,
}

impl ContentRange {
    fn of(headers: &HeaderMap) -> Self {
        headers.get("content-range").and_then(|value| Self::parse(value.to_str().ok()?)).unwrap_or_default()
    }

    fn parse(text: &str) -> Option<Self> {
        let (range, whole) = text.trim().strip_prefix("bytes")?.trim_start().split_once('/')?;
        let start = range.split_once('-').and_then(|(start, _)| start.trim().parse().ok());
        Some(Self { start, whole: whole.trim().parse().ok() })
    }
}

/// What to tell about a part file after a failure or an interruption; nothing where there is none.
pub fn how_to_go_on(part: &Path) -> String {
    match length(part) {
        0 => String::new(),
        have => {
            let have = console::bytes(have as usize);
            format!("; the {have} received so far are in {}: the same command goes on from there", part.display())
        }
    }
}

/// 0 where there is no file.
fn length(part: &Path) -> u64 {
    fs::metadata(part).map_or(0, |about| about.len())
}

fn open_part(part: &Path, start: u64) -> std::io::Result<File> {
    if let Some(folder) = part.parent() {
        fs::create_dir_all(folder)?;
    }
    if start == 0 { File::create(part) } else { OpenOptions::new().append(true).open(part) }
}

fn cannot_write(part: &Path, error: &std::io::Error) -> Trouble {
    Trouble::Lasting(format!("{}: cannot write: {error}", part.display()))
}

/// Whether another try may help where a request got no answer.
fn judge(error: &ureq::Error) -> Trouble {
    let reason = explain(error);
    match error {
        ureq::Error::Io(_) | ureq::Error::Timeout(_) | ureq::Error::HostNotFound | ureq::Error::ConnectionFailed => {
            Trouble::Passing(reason)
        }
        _ => Trouble::Lasting(reason),
    }
}

fn explain(error: &ureq::Error) -> String {
    match error {
        ureq::Error::Io(error) => error.to_string(),
        ureq::Error::Timeout(stage) => format!("nothing came in time ({stage})"),
        ureq::Error::HostNotFound => "the host was not found, or there is no network".into(),
        other => other.to_string(),
    }
}

fn status_text(status: u16) -> String {
    let reason = ureq::http::StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
    reason.map_or(status.to_string(), |reason| format!("{status} ({reason})"))
}

#[cfg(test)]
pub mod tests;
