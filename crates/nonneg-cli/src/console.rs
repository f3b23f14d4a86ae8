//! Standard output and error: colour only where it is wanted, and no panic when the reader of a pipe goes away.

use std::io::{ErrorKind, IsTerminal, Write};

use crate::failure::Failure;

/// Text colours, or nothing.
#[derive(Debug, Clone, Copy)]
pub struct Paint(bool);

#[derive(Debug, Clone, Copy)]
pub enum Tone {
    Dim,
    Green,
    Yellow,
    Cyan,
}

impl Paint {
    /// For text that goes to this stream.
    pub fn of(stream: &impl IsTerminal) -> Self {
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self(stream.is_terminal() && !no_color && !dumb)
    }

    pub fn text(self, tone: Tone, text: &str) -> String {
        if !self.0 || text.is_empty() {
            return text.to_owned();
        }
        let code = match tone {
            Tone::Dim => 2,
            Tone::Green => 32,
            Tone::Yellow => 33,
            Tone::Cyan => 36,
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

/// Writes to standard output; a closed pipe is the reader's choice, not an error.
pub fn print_bytes(bytes: &[u8]) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::new(format!("standard output: cannot write: {error}")))
        }
        _ => Ok(()),
    }
}

/// As [`print_bytes`], for text.
pub fn print(text: &str) -> Result<(), Failure> {
    print_bytes(text.as_bytes())
}

/// Writes to standard error; where that fails there is nobody left to tell.
pub fn print_error(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// Leaves the line that a progress bar is on.
pub fn end_line() {
    if std::io::stderr().is_terminal() {
        print_error("\n");
    }
}

/// The one message of a failed command.
pub fn complain(failure: &Failure) {
    let prefix = if Paint::of(&std::io::stderr()).0 { "\x1b[1;31merror:\x1b[0m" } else { "error:" };
    print_error(&format!("{prefix} {failure}\n"));
}

/// 1,234,567.
pub fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Seven significant digits, without an exponent where the number is of everyday size.
pub fn number(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        "0".into()
    } else if (1e-3..1e7).contains(&size) {
        let decimals = (6 - size.log10().floor() as i32).clamp(0, 9) as usize;
        format!("{value:.decimals$}")
    } else {
        format!("{value:.6e}")
    }
}

/// A time as people say it.
pub fn seconds(value: f64) -> String {
    match value {
        v if v < 1.0 => format!("{:.0} ms", 1e3 * v),
        v if v < 100.0 => format!("{v:.2} s"),
        v => format!("{v:.0} s"),
    }
}

/// 1.5 MiB.
pub fn bytes(count: usize) -> String {
    const UNITS: [&str; 5] = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let mut value = count as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{count} bytes") } else { format!("{value:.1} {}", UNITS[unit]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!([grouped(7), grouped(1234), grouped(1234567)], ["7", "1,234", "1,234,567"]);
        assert_eq!([number(0.0), number(1.5), number(1e-9), number(123456.7)], ["0", "1.500000", "1.000000e-9", "123456.7"]);
        assert_eq!([bytes(10), bytes(1536), bytes(3 << 30)], ["10 bytes", "1.5 KiB", "3.0 GiB"]);
        assert_eq!([seconds(0.0123), seconds(2.0), seconds(250.4)], ["12 ms", "2.00 s", "250 s"]);
    }
}
