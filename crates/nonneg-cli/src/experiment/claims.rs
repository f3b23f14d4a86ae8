//! The claims of the paper's section on experiments, each held against this run.

use super::analysis::{Entry, Standing};
use super::source::Role;
use super::{LEVEL_NAMES, LEVELS};

/// What this run says about a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Agrees,
    InPart,
    Disagrees,
    /// The data or the methods that it is about were not run, or not for long enough.
    Open,
}

impl Verdict {
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Agrees => "agrees",
            Verdict::InPart => "in part",
            Verdict::Disagrees => "disagrees",
            Verdict::Open => "cannot tell",
        }
    }

    /// Of several findings.
    fn of(findings: &[Option<bool>]) -> Self {
        let yes = findings.iter().filter(|f| **f == Some(true)).count();
        let no = findings.iter().filter(|f| **f == Some(false)).count();
        match (yes, no) {
            (0, 0) => Verdict::Open,
            (_, 0) => Verdict::Agrees,
            (0, _) => Verdict::Disagrees,
            _ => Verdict::InPart,
        }
    }
}

/// A method that leaves this part of the range of f hardly moved; and this part of what others leave is much less.
const HARDLY: f64 = 0.5;
const MUCH_LESS: f64 = 0.01;

#[derive(Debug, Clone)]
pub struct Claim {
    pub text: &'static str,
    pub verdict: Verdict,
    /// The figures, one sentence per data set.
    pub evidence: Vec<String>,
}

/// All of them.
pub fn check(standings: &[Standing]) -> Vec<Claim> {
    vec![
        ahead_in_passes(standings),
        restarts_are_linear(standings),
        single_columns_win_in_passes(standings),
        blocks_win_in_time(standings),
        others_hardly_move(standings),
    ]
}

fn ahead_in_passes(standings: &[Standing]) -> Claim {
    let about = |standing: &Standing| {
        let ours = fastest(standing, &["si-nnls", "si-nnls-norestart"], &Entry::passes)?;
        let theirs = fastest(standing, &["fista-norestart", "oa-ds"], &Entry::passes);
        let level = ours.level.max(theirs.as_ref().map_or(0, |other| other.level));
        let passes = |methods: &[&str]| at_level(standing, methods, level, &Entry::passes);
        let (ours, theirs) = (passes(&["si-nnls", "si-nnls-norestart"]), passes(&["fista-norestart", "oa-ds"]));
        Some((vec![less(&ours, &theirs)], compare(standing, level, &ours, &theirs, "passes")))
    };
    gather("In passes over the data, SI-NNLS+ is ahead of FISTA and OA+DS", standings, about)
}

fn restarts_are_linear(standings: &[Standing]) -> Claim {
    let about = |standing: &Standing| {
        let (with, without) = (standing.find("si-nnls")?, standing.find("si-nnls-norestart")?);
        let trend = with.trend?;
        let level = with.passes_to.iter().rposition(Option::is_some);
        let earlier = level.map(|level| match (with.passes_to[level], without.passes_to[level]) {
            (Some(with), Some(without)) => with <= without,
            (with, _) => with.is_some(),
        });
        let costs = level.map_or(String::new(), |level| {
            let passes = |entry: &Entry| entry.passes_to[level].map_or("never".to_owned(), |p| format!("after {p:.0} passes"));
            format!("; {} {} with restarts, {} without", LEVEL_NAMES[level], passes(with), passes(without))
        });
        let text = format!(
            "{}: with restarts {} (a digit every {:.0} passes; a straight line explains {:.1} % of the fall, a power law \
             {:.1} %), without {}{costs}",
            standing.subject.name,
            if trend.linear { "linear" } else { "not linear" },
            trend.passes_per_digit,
            100.0 * trend.fit_linear,
            100.0 * trend.fit_power,
            match without.trend {
                Some(trend) if trend.linear => "linear too in the digits seen",
                Some(_) => "sublinear",
                None => "too few digits to tell",
            },
        );
        Some((vec![Some(trend.linear), earlier], text))
    };
    gather("Restarts make SI-NNLS+ converge linearly", standings, about)
}

fn single_columns_win_in_passes(standings: &[Standing]) -> Claim {
    let about = |standing: &Standing| {
        if standing.subject.role != Some(Role::RealSim) {
            return None;
        }
        let level = fastest(standing, &["si-nnls", "si-nnls-bs10-spectral"], &Entry::passes)?.level;
        let passes = |method| at_level(standing, &[method], level, &Entry::passes);
        let (one, ten) = (passes("si-nnls"), passes("si-nnls-bs10-spectral"));
        Some((vec![less(&one, &ten)], compare(standing, level, &one, &ten, "passes")))
    };
    gather("On data like real-sim, blocks of 1 beat blocks of 10 in passes", standings, about)
}

fn blocks_win_in_time(standings: &[Standing]) -> Claim {
    let about = |standing: &Standing| {
        if standing.subject.role != Some(Role::News20) {
            return None;
        }
        let blocks: Vec<&str> =
            standing.entries.iter().map(|entry| entry.method.as_str()).filter(|m| m.ends_with("-spectral")).collect();
        let all: Vec<&str> = blocks.iter().copied().chain(["si-nnls"]).collect();
        let level = fastest(standing, &all, &Entry::seconds)?.level;
        let (blocks, single) =
            (at_level(standing, &blocks, level, &Entry::seconds), at_level(standing, &["si-nnls"], level, &Entry::seconds));
        Some((vec![less(&blocks, &single)], compare(standing, level, &blocks, &single, "seconds")))
    };
    gather("On very sparse data like news20, larger blocks win in time", standings, about)
}

fn others_hardly_move(standings: &[Standing]) -> Claim {
    let about = |standing: &Standing| {
        if standing.subject.role != Some(Role::E2006) {
            return None;
        }
        let left = |method: &str| standing.find(method)?.final_gap;
        let (fista, oa_ds) = (left("fista-norestart")?, left("oa-ds")?);
        let ours = left("si-nnls").into_iter().chain(left("si-nnls-norestart")).reduce(f64::min)?;
        let text = format!(
            "{}: when time was up, {fista:.1e} of the range of f was left to FISTA, {oa_ds:.1e} to OA+DS and {ours:.1e} to SI-NNLS+",
            standing.subject.name
        );
        let least = fista.min(oa_ds);
        Some((vec![Some(least >= HARDLY), Some(ours <= MUCH_LESS * least)], text))
    };
    gather("On the ill-conditioned set (E2006), FISTA and OA+DS hardly move while SI-NNLS+ gets on", standings, about)
}

fn gather(text: &'static str, standings: &[Standing], about: impl Fn(&Standing) -> Option<(Vec<Option<bool>>, String)>) -> Claim {
    let (findings, evidence): (Vec<_>, Vec<_>) = standings.iter().filter_map(about).unzip();
    Claim { text, verdict: Verdict::of(&findings.concat()), evidence }
}

impl Entry {
    fn passes(&self, level: usize) -> Option<f64> {
        self.passes_to[level]
    }
    fn seconds(&self, level: usize) -> Option<f64> {
        self.seconds_to[level]
    }
}

/// The cheapest of some methods at a level.
struct Winner {
    label: String,
    level: usize,
    cost: f64,
}

type Cost<'c> = &'c dyn Fn(&Entry, usize) -> Option<f64>;

/// Who first reached the deepest level that any of them reached.
fn fastest(standing: &Standing, methods: &[&str], cost: Cost) -> Option<Winner> {
    (0..LEVELS.len()).rev().find_map(|level| at_level(standing, methods, level, cost).ok())
}

/// Who reached a level at the least cost; otherwise what they are called.
fn at_level(standing: &Standing, methods: &[&str], level: usize, cost: Cost) -> Result<Winner, String> {
    let entries = || standing.entries.iter().filter(|entry| methods.contains(&entry.method.as_str()));
    let reached = entries().filter_map(|entry| Some((entry, cost(entry, level)?)));
    match reached.min_by(|a, b| a.1.total_cmp(&b.1)) {
        Some((entry, cost)) => Ok(Winner { label: entry.label.clone(), level, cost }),
        None => Err(entries().map(|entry| entry.label.as_str()).collect::<Vec<_>>().join(", ")),
    }
}

fn less(one: &Result<Winner, String>, other: &Result<Winner, String>) -> Option<bool> {
    match (one, other) {
        (Ok(one), Ok(other)) => Some(one.cost <= other.cost),
        (Ok(_), Err(_)) => Some(true),
        (Err(_), Ok(_)) => Some(false),
        (Err(_), Err(_)) => None,
    }
}

fn compare(
    standing: &Standing,
    level: usize,
    one: &Result<Winner, String>,
    other: &Result<Winner, String>,
    unit: &str,
) -> String {
    let say = |side: &Result<Winner, String>| match side {
        Ok(winner) => format!("{} after {} {unit}", winner.label, three_digits(winner.cost)),
        Err(names) if names.is_empty() => "(not run)".to_owned(),
        Err(names) => format!("not by {names}"),
    };
    format!("{}: a gap of {} was reached by {}, {}", standing.subject.name, LEVEL_NAMES[level], say(one), say(other))
}

/// 1.2e-7, and 0 for what rounding left nothing of.
pub fn scientific(value: f64) -> String {
    if value == 0.0 { "0".to_owned() } else { format!("{value:.1e}") }
}

/// 1234, 12.3, 0.0123.
pub fn three_digits(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let decimals = (2 - value.abs().log10().floor() as i32).clamp(0, 6) as usize;
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::super::analysis::tests::{made_up, subject};
    use super::*;

    fn at_rates(role: Role, rates: &[(&str, f64)]) -> super::super::curve::Subject {
        let curve = |&(name, rate): &(&str, f64)| made_up(name, move |passes| 10f64.powf(-passes / rate));
        let mut subject = subject(rates.iter().map(curve).collect());
        subject.role = Some(role);
        subject
    }

    #[test]
    fn claims_follow_the_figures_and_turn_with_them() {
        let names = ["si-nnls", "si-nnls-norestart", "fista-norestart", "oa-ds", "si-nnls-bs10-spectral"];
        let verdicts = |role: Role, rates: [f64; 5]| {
            let pairs: Vec<(&str, f64)> = names.into_iter().zip(rates).collect();
            let subject = at_rates(role, &pairs);
            check(&[Standing::new(&subject)]).iter().map(|claim| claim.verdict).collect::<Vec<_>>()
        };
        use Verdict::{Agrees, Disagrees, Open};
        let as_published = verdicts(Role::RealSim, [50.0, 120.0, 200.0, 300.0, 90.0]);
        assert_eq!(as_published, [Agrees, Agrees, Agrees, Open, Open]);
        let reversed = verdicts(Role::RealSim, [300.0, 320.0, 60.0, 90.0, 50.0]);
        assert_eq!([reversed[0], reversed[2]], [Disagrees, Disagrees]);
        assert_eq!(verdicts(Role::News20, [50.0, 120.0, 200.0, 300.0, 20.0])[3], Agrees);
        assert_eq!(verdicts(Role::News20, [20.0, 120.0, 200.0, 300.0, 50.0])[3], Disagrees);
        assert_eq!(verdicts(Role::E2006, [50.0, 60.0, 1e6, 1e6, 70.0])[4], Agrees);
        assert_eq!(verdicts(Role::E2006, [50.0, 60.0, 2000.0, 1e6, 70.0])[4], Verdict::InPart);
        assert_eq!(verdicts(Role::E2006, [500.0, 600.0, 400.0, 1e6, 700.0])[4], Disagrees);
    }

    #[test]
    fn nothing_run_leaves_every_claim_open() {
        assert!(check(&[]).iter().all(|claim| claim.verdict == Verdict::Open && claim.evidence.is_empty()));
    }
}
