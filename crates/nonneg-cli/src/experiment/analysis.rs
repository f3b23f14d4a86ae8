//! What the curves of a problem say: who got how far, at which cost, and how fast it went on.

use super::LEVELS;
use super::curve::{Curve, Row, Subject};

/// How well `best` is known where nothing is proved, for lack of anything better: curves are not fitted below that.
const UNPROVED: f64 = 1e-8;

/// A fall like k to the minus this or faster is not sublinear: the guarantees are 1/k and 1/k².
const SUBLINEAR: f64 = 4.0;

/// How all methods did on one problem.
#[derive(Debug)]
pub struct Standing<'a> {
    pub subject: &'a Subject,
    /// f at the best point that any method found.
    pub best: f64,
    /// The largest proved lower bound.
    pub lower_bound: Option<f64>,
    /// f(0) − best: gaps are in parts of it.
    pub range: f64,
    /// In order of the contestants.
    pub entries: Vec<Entry>,
}

/// How one method did.
#[derive(Debug, Clone)]
pub struct Entry {
    pub method: String,
    pub label: String,
    pub status: String,
    /// Passes and seconds until the gap was first at most each of [`LEVELS`].
    pub passes_to: [Option<f64>; 3],
    pub seconds_to: [Option<f64>; 3],
    /// (f − best)/(f(0) − best) of its best point.
    pub final_gap: Option<f64>,
    /// Its own proof.
    pub certified_gap: Option<f64>,
    /// Least natural residual, in parts of that of x = 0.
    pub residual: Option<f64>,
    pub passes: f64,
    pub seconds: f64,
    pub trend: Option<Trend>,
    /// In the panels: of the block sizes only the best is.
    pub shown: bool,
}

/// How a curve falls in its lower half.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trend {
    /// Passes that each further digit takes.
    pub passes_per_digit: f64,
    /// A straight line against passes fits better than a power law, or the power is one that no sublinear method has.
    pub linear: bool,
    /// The part of the variation that each of them explains.
    pub fit_linear: f64,
    pub fit_power: f64,
}

impl<'a> Standing<'a> {
    pub fn new(subject: &'a Subject) -> Self {
        let rows = || subject.curves.iter().flat_map(|curve| &curve.rows);
        let best = rows().filter_map(|row| row.objective).fold(f64::INFINITY, f64::min);
        let at_zero = rows().find_map(|row| row.objective).unwrap_or(f64::NAN);
        let lower_bound = rows().filter_map(|row| row.lower_bound).reduce(f64::max);
        let mut standing = Self { subject, best, lower_bound, range: at_zero - best, entries: Vec::new() };
        standing.entries = subject.curves.iter().map(|curve| standing.entry(curve)).collect();
        standing.choose_blocks();
        standing
    }

    /// (f − best)/(f(0) − best).
    pub fn gap(&self, row: &Row) -> Option<f64> {
        let gap = (row.objective? - self.best) / self.range;
        gap.is_finite().then(|| gap.max(0.0))
    }

    /// How far `best` may still be from the optimum, proved, in the same parts.
    pub fn unknown(&self) -> Option<f64> {
        let unknown = (self.best - self.lower_bound?) / self.range;
        unknown.is_finite().then(|| unknown.max(0.0))
    }

    pub fn find(&self, method: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.method == method)
    }

    /// The curve of an entry.
    pub fn curve(&self, entry: &Entry) -> Option<&'a Curve> {
        self.subject.curves.iter().find(|curve| curve.method == entry.method)
    }

    /// r(x) in parts of r(0).
    pub fn residual(&self, curve: &Curve, row: &Row) -> Option<f64> {
        let first = curve.rows.first()?.natural_residual?;
        let ratio = row.natural_residual? / first;
        ratio.is_finite().then_some(ratio)
    }

    fn entry(&self, curve: &Curve) -> Entry {
        let reached = |level: f64| curve.rows.iter().find(|row| self.gap(row).is_some_and(|gap| gap <= level));
        let least = |values: &mut dyn Iterator<Item = f64>| values.reduce(f64::min);
        let last = curve.rows.last();
        Entry {
            method: curve.method.clone(),
            label: curve.label.clone(),
            status: curve.status.clone(),
            passes_to: LEVELS.map(|level| reached(level).map(|row| row.passes)),
            seconds_to: LEVELS.map(|level| reached(level).map(|row| row.seconds)),
            final_gap: least(&mut curve.rows.iter().filter_map(|row| self.gap(row))),
            certified_gap: least(&mut curve.rows.iter().filter_map(|row| row.relative_gap)),
            residual: least(&mut curve.rows.iter().filter_map(|row| self.residual(curve, row))),
            passes: last.map_or(0.0, |row| row.passes),
            seconds: last.map_or(0.0, |row| row.seconds),
            trend: self.trend(curve),
            shown: true,
        }
    }

    /// From the points that got closer than any before, down to where `best` itself is in doubt.
    fn trend(&self, curve: &Curve) -> Option<Trend> {
        let floor = 3.0 * self.unknown().unwrap_or(UNPROVED).max(1e-13);
        let mut closest = f64::INFINITY;
        let mut points = Vec::new();
        for row in &curve.rows {
            let gap = self.gap(row)?;
            if gap < closest && gap > floor && row.passes > 0.0 {
                closest = gap;
                points.push((row.passes, gap.log10()));
            }
        }
        let (first, last) = (points.first()?.1.min(-1.0), points.last()?.1);
        if first - last < 1.5 {
            return None; // too few digits to tell
        }
        // The lower half shows where it is going; fast methods have few points there.
        let half = points.iter().filter(|point| point.1 <= 0.5 * (first + last)).count();
        let highest = if half >= 4 { 0.5 * (first + last) } else { first };
        points.retain(|point| point.1 <= highest);
        if points.len() < 3 {
            return None;
        }
        let (slope, fit_linear) = regression(&points)?;
        let logarithmic: Vec<(f64, f64)> = points.iter().map(|&(x, y)| (x.log10(), y)).collect();
        let (power, fit_power) = regression(&logarithmic)?;
        let linear = fit_linear > fit_power || -power > SUBLINEAR;
        (slope < 0.0).then(|| Trend { passes_per_digit: -1.0 / slope, linear, fit_linear, fit_power })
    }

    /// Of the block sizes with the same constants only the best is shown, as in the paper: the one that got furthest, then
    /// fastest.
    fn choose_blocks(&mut self) {
        for spectral in [true, false] {
            let is_block = |entry: &Entry| entry.method.contains("-bs") && entry.method.ends_with("-spectral") == spectral;
            let rank = |entry: &Entry| {
                let level = entry.seconds_to.iter().rposition(Option::is_some);
                let seconds = level.and_then(|level| entry.seconds_to[level]).unwrap_or(f64::INFINITY);
                (std::cmp::Reverse(level), seconds, entry.final_gap.unwrap_or(f64::INFINITY))
            };
            let before = |a: &Entry, b: &Entry| {
                let (a, b) = (rank(a), rank(b));
                a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.total_cmp(&b.2))
            };
            let best = self.entries.iter().filter(|entry| is_block(entry)).min_by(|a, b| before(a, b));
            let Some(best) = best.map(|entry| entry.method.clone()) else { continue };
            for entry in self.entries.iter_mut().filter(|entry| is_block(entry)) {
                entry.shown = entry.method == best;
            }
        }
    }
}

/// Slope of y over x by least squares, and the part of the variation that it explains.
fn regression(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let n = points.len() as f64;
    let (mean_x, mean_y) = (points.iter().map(|p| p.0).sum::<f64>() / n, points.iter().map(|p| p.1).sum::<f64>() / n);
    let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
    for (x, y) in points {
        xx += (x - mean_x).powi(2);
        xy += (x - mean_x) * (y - mean_y);
        yy += (y - mean_y).powi(2);
    }
    (xx > 0.0 && yy > 0.0).then(|| (xy / xx, xy * xy / (xx * yy)))
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// f(k) = gap(k) + 1 with f(0) = 2, a row every 10 passes and a hundredth as many seconds.
    pub fn made_up(method: &str, gap: impl Fn(f64) -> f64) -> Curve {
        let row = |k: usize| {
            let passes = 10.0 * k as f64;
            Row {
                passes,
                seconds: passes / 100.0,
                objective: Some(1.0 + if k == 0 { 1.0 } else { gap(passes) }),
                lower_bound: Some(1.0),
                relative_gap: None,
                natural_residual: Some(1.0 / (1.0 + passes)),
                support: 1,
                restarts: 0,
                event: "check".into(),
            }
        };
        Curve { method: method.into(), label: method.into(), status: "time_limit".into(), rows: (0..100).map(row).collect() }
    }

    pub fn subject(curves: Vec<Curve>) -> Subject {
        Subject {
            name: "made up".into(),
            origin: "nowhere".into(),
            role: None,
            rows: 3,
            cols: 2,
            entries: 6,
            signed: false,
            curves,
        }
    }

    #[test]
    fn linear_and_sublinear_curves_are_told_apart() {
        let linear = made_up("si-nnls", |passes| 10f64.powf(0.05 - passes / 100.0));
        let power = made_up("fista", |passes| 30.0 / (passes + 5.0).powi(2));
        let exact = made_up("auto", |passes| if passes > 50.0 { 0.0 } else { 0.1 });
        let subject = subject(vec![linear, power, exact]);
        let standing = Standing::new(&subject);
        assert_eq!(standing.best, 1.0);
        assert_eq!(standing.unknown(), Some(0.0));
        let linear = standing.find("si-nnls").unwrap();
        let trend = linear.trend.unwrap();
        assert!(trend.linear && (trend.passes_per_digit - 100.0).abs() < 1.0, "{trend:?}");
        assert_eq!(linear.passes_to, [Some(210.0), Some(410.0), Some(610.0)]);
        assert_eq!(linear.seconds_to[0], Some(2.1));
        let power = standing.find("fista").unwrap();
        assert!(!power.trend.unwrap().linear);
        assert_eq!(power.passes_to[2], None);
        assert_eq!(standing.find("auto").unwrap().trend, None);
    }

    #[test]
    fn of_the_block_sizes_the_best_is_shown() {
        let curves = ["si-nnls", "si-nnls-bs10-spectral", "si-nnls-bs50-spectral", "si-nnls-bs10"];
        let rates = [100.0, 300.0, 150.0, 80.0];
        let curve = |(name, rate): (&str, f64)| made_up(name, move |passes| 10f64.powf(-passes / rate));
        let subject = subject(curves.into_iter().zip(rates).map(curve).collect());
        let shown: Vec<bool> = Standing::new(&subject).entries.iter().map(|entry| entry.shown).collect();
        assert_eq!(shown, [true, false, true, true]);
    }
}
