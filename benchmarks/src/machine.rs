//! What the results were measured on and from, without names of folders or hosts.

use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;

/// The machine, the compiler and the source.
#[derive(Debug, Serialize)]
pub struct Machine {
    pub cpu: String,
    pub cores: usize,
    pub system: String,
    pub rustc: &'static str,
    /// Of one thread, summing a long array.
    pub bandwidth_gb_per_s: f64,
    /// The commit that was built, with `+changes` when files under version control differ from it.
    pub commit: Option<String>,
}

impl Machine {
    pub fn here(bandwidth: f64) -> Self {
        Self {
            cpu: cpu_model().unwrap_or_else(|| "unknown".into()),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            rustc: env!("BENCH_RUSTC"),
            bandwidth_gb_per_s: bandwidth / 1e9,
            commit: commit(),
        }
    }
}

/// What Linux says.
fn cpu_model() -> Option<String> {
    let info = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = info.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn commit() -> Option<String> {
    let git = |arguments: &[&str]| {
        let output =
            Command::new("git").args(["--no-optional-locks", "-C", env!("CARGO_MANIFEST_DIR")]).args(arguments).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let mut commit = git(&["rev-parse", "--short", "HEAD"])?;
    if git(&["status", "--porcelain", "--untracked-files=no", "--", "..", ":!results"]).is_some_and(|changes| !changes.is_empty())
    {
        commit += "+changes";
    }
    Some(commit)
}

/// Today in UTC, YYYY-MM-DD.
pub fn utc_date() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (year, month, day) = civil(seconds / 86_400);
    format!("{year:04}-{month:02}-{day:02}")
}

/// Year, month and day of a day counted from 1970-01-01 (Hinnant's algorithm: years begin in March, eras have 400).
fn civil(days: u64) -> (u64, u64, u64) {
    let day = days + 719_468; // from 0000-03-01
    let (era, day_of_era) = (day / 146_097, day % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153; // 0 is March
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    (year, month, day_of_year - (153 * shifted + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::civil;

    #[test]
    fn days_become_dates() {
        for (days, date) in [(0, (1970, 1, 1)), (11_016, (2000, 2, 29)), (11_017, (2000, 3, 1)), (20_453, (2025, 12, 31))] {
            assert_eq!(civil(days), date);
        }
    }
}
