//! Against a server on this machine.

#[path = "../../tests/common/server.rs"]
pub mod server;

use super::*;
use server::{Server, cut, nobody, ranged, status, unmeasured, whole};

/// Without a proxy and without patience.
pub fn hasty() -> Downloader {
    Downloader::with(None, Duration::from_secs(2), Duration::from_millis(1))
}

/// A folder that is not there yet, in one that goes away, and contents that differ everywhere.
struct Fixture {
    _outer: tempfile::TempDir,
    part: std::path::PathBuf,
    contents: Vec<u8>,
}

impl Fixture {
    fn new() -> Self {
        let outer = tempfile::tempdir().unwrap();
        let part = outer.path().join("data/file.part");
        let contents = (0..300_000u32).map(|k| (k.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        Self { _outer: outer, part, contents }
    }

    fn download(&self, url: &str) -> Result<(), String> {
        hasty().download(url, &self.part, &|_, _| {}).map_err(|failure| failure.to_string())
    }

    /// Puts the first bytes there.
    fn begin(&self, bytes: &[u8]) {
        fs::create_dir_all(self.part.parent().unwrap()).unwrap();
        fs::write(&self.part, bytes).unwrap();
    }

    #[track_caller]
    fn is_complete(&self) {
        assert!(fs::read(&self.part).unwrap() == self.contents, "the file is what the server has");
    }
}

#[test]
fn plain_downloads_count_their_bytes() {
    let fixture = Fixture::new();
    let contents = fixture.contents.clone();
    let server = Server::start(move |_, asked| ranged(&contents, asked));
    let seen = std::sync::Mutex::new((0, None));
    hasty().download(&server.url, &fixture.part, &|done, total| *seen.lock().unwrap() = (done, total)).unwrap();
    fixture.is_complete();
    assert_eq!(*seen.lock().unwrap(), (300_000, Some(300_000)));
    assert_eq!(server.asked(), [None]);
}

#[test]
fn lengths_may_be_unknown() {
    let fixture = Fixture::new();
    let contents = fixture.contents.clone();
    let server = Server::start(move |_, _| unmeasured(&contents));
    fixture.download(&server.url).unwrap();
    fixture.is_complete();
}

#[test]
fn broken_connections_are_resumed() {
    let fixture = Fixture::new();
    let contents = fixture.contents.clone();
    // More often than tries are allowed: each brings something.
    let server = Server::start(move |number, asked| match number {
        0..6 => cut(ranged(&contents, asked), 290_000 - 40_000 * number),
        _ => ranged(&contents, asked),
    });
    fixture.download(&server.url).unwrap();
    fixture.is_complete();
    let asked = server.asked();
    assert_eq!((asked.len(), asked[0], asked[1]), (7, None, Some(10_000)));
}

#[test]
fn parts_of_earlier_runs_are_resumed() {
    let fixture = Fixture::new();
    fixture.begin(&fixture.contents[..123_456]);
    let contents = fixture.contents.clone();
    let server = Server::start(move |_, asked| ranged(&contents, asked));
    fixture.download(&server.url).unwrap();
    fixture.is_complete();
    assert_eq!(server.asked(), [Some(123_456)]);
    // A part that is complete is not downloaded again: 416 tells.
    fixture.download(&server.url).unwrap();
    fixture.is_complete();
    assert_eq!(server.asked(), [Some(123_456), Some(300_000)]);
}

#[test]
fn servers_without_ranges_start_again() {
    let fixture = Fixture::new();
    fixture.begin(b"the beginning of something else");
    let contents = fixture.contents.clone();
    let server = Server::start(move |_, _| whole(&contents, contents.len()));
    fixture.download(&server.url).unwrap();
    fixture.is_complete();
    assert_eq!(server.asked(), [Some(31)]);
}

#[test]
fn parts_that_do_not_fit_are_dropped() {
    let fixture = Fixture::new();
    let contents = fixture.contents.clone();
    // Longer than the file: 416 with another length.
    fixture.begin(&[7; 400_000]);
    let server = Server::start(move |_, asked| ranged(&contents, asked));
    fixture.download(&server.url).unwrap();
    fixture.is_complete();
    assert_eq!(server.asked(), [Some(400_000), None]);

    // The server sends another range than the one asked for.
    let fixture = Fixture::new();
    fixture.begin(&fixture.contents[..1000]);
    let contents = fixture.contents.clone();
    let server = Server::start(move |_, asked| ranged(&contents, asked.map(|start| start + 1)));
    fixture.download(&server.url).unwrap();
    fixture.is_complete();
    assert_eq!(server.asked(), [Some(1000), None]);
}

#[test]
fn lengths_that_never_come_true_are_given_up() {
    let fixture = Fixture::new();
    let contents = fixture.contents.clone();
    let server = Server::start(move |_, _| whole(&contents, contents.len() + 1));
    let message = fixture.download(&server.url).unwrap_err();
    assert!(message.starts_with(&server.url) && message.contains("after 300000 of 300001 bytes"), "{message}");
    assert!(message.contains("293.0 KiB received so far") && message.contains("file.part"), "{message}");
    assert_eq!(server.asked().len(), TRIES as usize);
}

#[test]
fn refusals_are_final_and_leave_nothing() {
    for (answer, reason) in [
        (status("404 Not Found"), "404 (Not Found)"),
        (status("503 Service Unavailable"), "503"),
        (status("416 Range Not Satisfiable"), "416"),
        (status("200 OK"), "an empty file"),
    ] {
        let fixture = Fixture::new();
        let server = Server::start(move |_, _| answer.clone());
        let message = fixture.download(&server.url).unwrap_err();
        assert!(message.starts_with(&server.url) && message.contains(reason), "{message}");
        assert_eq!(message.lines().count(), 1);
        assert!(!fixture.part.parent().unwrap().exists(), "{reason}");
        assert_eq!(server.asked().len(), 1);
    }
}

#[test]
fn nobody_there() {
    let fixture = Fixture::new();
    let url = nobody();
    let message = fixture.download(&url).unwrap_err();
    assert!(message.starts_with(&url) && message.contains("refused"), "{message}");
    assert!(!fixture.part.parent().unwrap().exists());
    for url in ["ftp://127.0.0.1/a.bz2", "nonsense", ""] {
        let message = fixture.download(url).unwrap_err();
        assert!(message.contains("cannot download"), "{message}");
    }
    // What is there stays.
    fixture.begin(b"some bytes");
    assert!(fixture.download(&url).unwrap_err().contains("10 bytes received so far"));
    assert_eq!(fs::read(&fixture.part).unwrap(), b"some bytes");
}

#[test]
fn silence_is_not_waited_for() {
    let fixture = Fixture::new();
    let server = Server::start(|_, _| {
        std::thread::sleep(Duration::from_secs(600));
        vec![]
    });
    let clock = std::time::Instant::now();
    let hasty = Downloader::with(None, Duration::from_millis(200), Duration::from_millis(1));
    let message = hasty.download(&server.url, &fixture.part, &|_, _| {}).unwrap_err().to_string();
    assert!(message.contains("nothing came in time"), "{message}");
    assert!(clock.elapsed() < Duration::from_secs(60));
}

#[test]
fn folders_that_cannot_be_written() {
    let fixture = Fixture::new();
    fs::write(fixture.part.parent().unwrap(), "a file, not a folder").unwrap();
    let server = Server::start(|_, _| whole(b"abc", 3));
    let message = fixture.download(&server.url).unwrap_err();
    assert!(message.contains("file.part: cannot write"), "{message}");
    assert_eq!(server.asked().len(), 1);
}

#[test]
fn content_ranges() {
    let parse = |text| ContentRange::parse(text).map(|range| (range.start, range.whole));
    assert_eq!(parse("bytes 100-199/200"), Some((Some(100), Some(200))));
    assert_eq!(parse("bytes 100-199/*"), Some((Some(100), None)));
    assert_eq!(parse("bytes */200"), Some((None, Some(200))));
    assert_eq!(parse("items 1-2/3"), None);
    assert_eq!(parse("bytes"), None);
}
