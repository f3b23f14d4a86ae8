//! Failures of many runs, shown together.

/// Collects failures, so that one run shows them all.
#[derive(Default)]
pub struct Tally {
    runs: usize,
    failures: Vec<String>,
}

impl Tally {
    pub fn add(&mut self, result: Result<(), String>) {
        self.runs += 1;
        self.failures.extend(result.err());
    }

    pub fn finish(self, at_least: usize) {
        let shortest = self.failures.iter().min_by_key(|failure| failure.len());
        assert!(shortest.is_none(), "{} of {} runs failed; the shortest:\n{}", self.failures.len(), self.runs, shortest.unwrap());
        assert!(self.runs >= at_least, "only {} runs", self.runs);
    }
}
