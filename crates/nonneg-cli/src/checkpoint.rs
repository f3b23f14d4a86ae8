//! `--checkpoint`: the best x of a run, kept in a file as the run goes on.

use std::time::{Duration, Instant};

use nonneg::{Event, Moment};
use nonneg_io::Checkpoint;

use crate::failure::Failure;
use crate::inputs::Inputs;

/// Writes the file, now and then and at the end.
pub struct Keeper {
    path: String,
    every: Duration,
    written: Instant,
    identity: u128,
    /// Passes and seconds of earlier runs, if there were any.
    pub before: Option<(f64, f64)>,
    /// What went wrong; nothing is written after that.
    failure: Option<nonneg_io::Error>,
}

impl Keeper {
    /// Looks where an earlier run has got to: its x becomes the start.
    pub fn open(path: &str, every: Duration, inputs: &mut Inputs) -> Result<Self, Failure> {
        let identity = nonneg_io::identity(&inputs.problem(), inputs.free());
        let mut before = None;
        if let Some(found) = Checkpoint::read(path)? {
            found.check(path, identity, inputs.matrix.view().cols())?;
            before = Some((found.passes, found.seconds));
            inputs.start_from(found.x);
        }
        Ok(Self { path: path.to_owned(), every, written: Instant::now(), identity, before, failure: None })
    }

    /// Writes what there is, if it is time.
    pub fn note(&mut self, moment: &Moment) {
        let last = moment.row.event == Event::Final;
        if self.failure.is_some() || !last && self.written.elapsed() < self.every {
            return;
        }
        let (passes, seconds) = self.before.unwrap_or_default();
        let checkpoint = Checkpoint {
            identity: self.identity,
            x: moment.best_x(),
            passes: passes + moment.row.passes,
            seconds: seconds + moment.row.seconds,
        };
        self.failure = checkpoint.write(&self.path).err();
        self.written = Instant::now();
    }

    /// Whether all went well.
    pub fn finish(self) -> Result<(), Failure> {
        self.failure.map_or(Ok(()), |error| Err(error.into()))
    }
}
