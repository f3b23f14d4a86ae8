//! Tables of numbers as text: one row per line, an optional header line, `#` comments; labels of rows, where the header
//! has no name for them.

use std::ops::Range;

use nonneg::DenseMatrix;

use crate::assemble;
use crate::blocks::{BadLine, Lines, line_end};
use crate::error::{Error, Result};
use crate::number::{self, Numbers};

/// What stands between two fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Separator {
    Byte(u8),
    /// Any run of blanks.
    Blanks,
}

/// What the first lines tell about the rest.
struct Layout {
    numbers: Numbers,
    separator: Separator,
    /// Fields in front of the numbers, which are labels of the row.
    labels: usize,
    cols: usize,
    /// The line that decided on `cols`, from 1.
    model_line: u64,
}

pub(crate) fn read(mut lines: Lines) -> Result<DenseMatrix> {
    let (rows, cols, values) = read_values(&mut lines, Numbers::Finite)?;
    DenseMatrix::new(rows, cols, values).map_err(|e| Error::content(&lines.path, e.to_string()))
}

/// Rows (at least one), columns, and the values column by column.
pub(crate) fn read_values(lines: &mut Lines, numbers: Numbers) -> Result<(usize, usize, Vec<f64>)> {
    let layout = read_layout(lines, numbers)?;
    let mut blocks: Vec<Vec<f64>> = vec![];
    lines.parse_rest(
        |text| parse_block(text, &layout),
        |values, _, _| {
            // A block of comments has no rows.
            if !values.is_empty() {
                blocks.push(values);
            }
            Ok(())
        },
    )?;

    let cols = layout.cols;
    let path = lines.path.as_str();
    let rows = blocks.iter().map(Vec::len).sum::<usize>() / cols;
    let mut values = assemble::filled(path, rows * cols, 0.0)?;
    let mut first_row = 0;
    for block in blocks {
        let block_rows = block.len() / cols;
        // A block is small enough to stay in the cache while its columns are copied out.
        for j in 0..cols {
            let column = &mut values[j * rows + first_row..][..block_rows];
            column.iter_mut().zip(block[j..].iter().step_by(cols)).for_each(|(to, from)| *to = *from);
        }
        first_row += block_rows;
    }
    Ok((rows, cols, values))
}

/// Looks at the first line that is neither blank nor a comment, and skips it when it is a header.
fn read_layout(lines: &mut Lines, numbers: Numbers) -> Result<Layout> {
    let Some(first) = next_content(lines)? else {
        return Err(Error::content(&lines.path, "holds no numbers, expected one row of numbers per line"));
    };
    let first_line = lines.line;
    let separator = first_separator(lines, &first)?;
    if unnamed(&names(&first, separator)) == 0 {
        let fields = fields(&first, separator);
        if fields.iter().any(|field| number::field(field, numbers).is_ok()) {
            let layout = Layout { numbers, separator, labels: 0, cols: fields.len(), model_line: lines.line };
            lines.give_back(first);
            return Ok(layout);
        }
        if fields.iter().any(|field| is_number(field)) {
            return Err(lines.error(format!("'{}' is not {}", number::excerpt(fields[0]), numbers.name()))); // nan or inf, no header
        }
    }
    // No field is a number, or the first is empty: names of the columns.
    let Some(second) = next_content(lines)? else {
        return Err(Error::content(&lines.path, "holds a header line and no numbers, expected rows of numbers after it"));
    };
    // Names may hold blanks, so blanks there decide nothing.
    let separator = if separator == Separator::Blanks { guess_separator(&second) } else { separator };
    let (names, second_names) = (names(&first, separator), self::names(&second, separator));
    let (unnamed, found) = (unnamed(&names), second_names.len());
    if unnamed > 0 && trim_field(second_names[0]).is_empty() && names.iter().any(|name| is_number(trim_field(name))) {
        // Rows of numbers that all begin with a separator.
        return Err(Error::line(&lines.path, first_line, "field 1 is empty, expected a number"));
    }
    // R puts no name above the labels, not even an empty one. It quotes names, so that they can be counted.
    let quoted = names.iter().all(|name| name.starts_with(b"\""));
    let labels = if unnamed == 0 && quoted && found == names.len() + 1 { 1 } else { unnamed };
    let named = names.len() - unnamed;
    let cols = after_labels(&second, separator, labels).map_or(0, |row| fields(row, separator).len());
    if cols != named && (separator != Separator::Blanks || labels > 0) {
        return Err(lines.error(format!("{found} fields, expected {} as in the header line", named + labels)));
    }
    let layout = Layout { numbers, separator, labels, cols, model_line: lines.line };
    lines.give_back(second);
    Ok(layout)
}

/// How many columns before the first that has a name have none: pandas and R keep labels of rows there.
fn unnamed(names: &[&[u8]]) -> usize {
    let names: Vec<&[u8]> = names.iter().map(|name| trim_field(name)).collect();
    let Some(count @ 1..) = names.iter().position(|name| !name.is_empty()) else { return 0 };
    let named = &names[count..];
    // Numbers for names go up: 0, 1, 2 or wavelengths. Otherwise this is a row of numbers, and the first one is missing.
    let numbers: Vec<f64> = named.iter().filter_map(|name| whole_number(name)).collect();
    let goes_up = numbers.len() < named.len() || numbers.is_sorted_by(|a, b| a < b);
    if goes_up && (numbers.is_empty() || !named.contains(&&b""[..])) { count } else { 0 }
}

/// A field that is a number and nothing else.
fn whole_number(field: &[u8]) -> Option<f64> {
    number::float(field).filter(|&(_, length)| length == field.len()).map(|(value, _)| value)
}

fn is_number(field: &[u8]) -> bool {
    whole_number(field).is_some()
}

fn next_content(lines: &mut Lines) -> Result<Option<Vec<u8>>> {
    while let Some(line) = lines.next_line()? {
        if !is_empty_or_comment(line.trim_ascii()) {
            return Ok(Some(line));
        }
    }
    Ok(None)
}

fn is_empty_or_comment(trimmed: &[u8]) -> bool {
    matches!(trimmed.first(), None | Some(b'#'))
}

fn guess_separator(line: &[u8]) -> Separator {
    // Semicolons first: where they separate fields, a comma is a decimal point, and saying so helps more than guessing.
    [b';', b'\t', b','].into_iter().find(|byte| line.trim_ascii().contains(byte)).map_or(Separator::Blanks, Separator::Byte)
}

/// Blanks around a line decide nothing, except that a tab before its only word follows an empty field where the next line
/// has tabs too.
fn first_separator(lines: &mut Lines, first: &[u8]) -> Result<Separator> {
    let separator = guess_separator(first);
    if separator != Separator::Blanks || !first.starts_with(b"\t") || fields(first, separator).len() > 1 {
        return Ok(separator);
    }
    let next = lines.head()?.split(|&b| b == b'\n').find(|line| !is_empty_or_comment(line.trim_ascii()));
    Ok(next.map_or(separator, guess_separator))
}

/// The fields of a line where separators may stand between quotes, with these quotes.
fn names(line: &[u8], separator: Separator) -> Vec<&[u8]> {
    let (mut names, mut rest) = (vec![], Some(line));
    while let Some(line) = rest {
        let (name, after) = split_field(line, separator);
        names.push(name);
        rest = after.filter(|after| separator != Separator::Blanks || !after.trim_ascii().is_empty());
    }
    names
}

/// The first field, with the quotes around it, and what follows its separator.
fn split_field(line: &[u8], separator: Separator) -> (&[u8], Option<&[u8]>) {
    let blank = line.iter().position(|&byte| !byte.is_ascii_whitespace() || separator == Separator::Byte(byte));
    let line = &line[blank.unwrap_or(line.len())..];
    let mut inside = false; // two quotes in a row lead out and in again
    let quoted = line.starts_with(b"\"");
    let ends = |byte: u8| match separator {
        Separator::Byte(other) => byte == other,
        Separator::Blanks => byte.is_ascii_whitespace(),
    };
    let end = line.iter().position(|&byte| {
        inside ^= quoted && byte == b'"';
        !inside && ends(byte)
    });
    let (field, rest) = line.split_at(end.unwrap_or(line.len()));
    (field.trim_ascii(), rest.get(1..).filter(|_| end.is_some()))
}

/// What follows the labels of a row; `None` where nothing does.
fn after_labels(row: &[u8], separator: Separator, labels: usize) -> Option<&[u8]> {
    (0..labels).try_fold(row, |row, _| split_field(row, separator).1)
}

fn fields(line: &[u8], separator: Separator) -> Vec<&[u8]> {
    match separator {
        Separator::Byte(byte) => line.split(|&b| b == byte).map(trim_field).collect(),
        Separator::Blanks => line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()).map(trim_field).collect(),
    }
}

/// Without blanks and quotes around it.
#[inline]
fn trim_field(field: &[u8]) -> &[u8] {
    let field = field.trim_ascii();
    field.strip_prefix(b"\"").and_then(|field| field.strip_suffix(b"\"")).unwrap_or(field)
}

/// The values of whole rows, row after row.
fn parse_block(text: &[u8], layout: &Layout) -> std::result::Result<Vec<f64>, BadLine> {
    // As many rows as the first one fits in, and some more: memory that grows or shrinks costs about as much as the parsing.
    let rows = text.len() / (line_end(text, 0) + 1) + 1;
    let mut values = Vec::with_capacity((rows + rows / 16).saturating_mul(layout.cols).min(text.len() / 2 + 1));
    let (mut at, mut line) = (0, 0);
    while at < text.len() {
        let end = line_end(text, at);
        let row = text[at..end].trim_ascii();
        if !parse_plain_row(text, at..end, layout, &mut values) && !is_empty_or_comment(row) {
            parse_row(&text[at..end], layout, &mut values).map_err(|message| BadLine { line, message })?;
        }
        at = end + 1;
        line += 1;
    }
    if values.len() < values.capacity() / 2 {
        values.shrink_to_fit();
    }
    Ok(values)
}

/// How many long numbers in a row are taken as a sign that the rest of the row is long, too.
const TRIES: usize = 4;

/// Most rows: numbers with one separator between them and nothing else. Leaves all other rows alone, and says so. It looks at the text
/// beyond the row, too: numbers are read fastest where there is more to come.
fn parse_plain_row(text: &[u8], row: Range<usize>, layout: &Layout, values: &mut Vec<f64>) -> bool {
    let Separator::Byte(separator) = layout.separator else { return false };
    if layout.labels > 0 {
        return false;
    }
    let first = values.len();
    let end = if row.end > row.start && text[row.end - 1] == b'\r' { row.end - 1 } else { row.end };
    let mut at = row.start;
    let mut tries = TRIES;
    while at < end {
        if tries > 0 {
            // The last one is left: no separator may follow it.
            let most = first + layout.cols - values.len() - 1;
            let length = number::tiny_floats(&text[at..end], separator, most, values);
            tries = if length > 0 { TRIES } else { tries - 1 };
            at += length;
        }
        let found = number::float(&text[at..]).filter(|&(value, length)| at + length <= end && layout.numbers.include(value));
        let Some((value, length)) = found else { break };
        values.push(value);
        at += length;
        let complete = values.len() == first + layout.cols;
        if complete && at == end {
            return true;
        }
        if complete || text.get(at) != Some(&separator) {
            break;
        }
        at += 1;
    }
    values.truncate(first);
    false
}

fn parse_row(row: &[u8], layout: &Layout, values: &mut Vec<f64>) -> std::result::Result<(), String> {
    let first = values.len();
    let expected = layout.labels + layout.cols;
    let wrong = |count: usize| format!("{count} fields, expected {expected} as in line {}", layout.model_line);
    let numbers = after_labels(row, layout.separator, layout.labels);
    let numbers = numbers.ok_or_else(|| wrong(names(row, layout.separator).len()))?;
    let mut count = layout.labels;
    let mut field = |text: &[u8]| {
        count += 1;
        if count <= expected {
            values.push(number::field(trim_field(text), layout.numbers).map_err(|message| match trim_field(text) {
                b"" => format!("field {count} is empty, expected a number"),
                _ => format!("field {count}: {message}"),
            })?);
        }
        Ok::<(), String>(())
    };
    match layout.separator {
        Separator::Byte(byte) => numbers.split(|&b| b == byte).try_for_each(&mut field)?,
        Separator::Blanks => numbers.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).try_for_each(&mut field)?,
    }
    if count != expected {
        values.truncate(first);
        return Err(wrong(count));
    }
    Ok(())
}
