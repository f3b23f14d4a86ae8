//! Tables of numbers as text: one row per line, an optional header line, `#` comments.

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
    let separator = guess_separator(&first);
    let fields = fields(&first, separator);
    if fields.iter().any(|field| number::field(field, numbers).is_ok()) {
        let layout = Layout { numbers, separator, cols: fields.len(), model_line: lines.line };
        lines.give_back(first);
        return Ok(layout);
    }
    if fields.iter().any(|field| number::float(field).is_some_and(|(_, length)| length == field.len())) {
        return Err(lines.error(format!("'{}' is not {}", number::excerpt(fields[0]), numbers.name()))); // nan or inf, no header
    }
    // No field is a number: names of the columns. Names may hold blanks, so blanks there decide nothing.
    let names = fields.len();
    let Some(second) = next_content(lines)? else {
        return Err(Error::content(&lines.path, "holds a header line and no numbers, expected rows of numbers after it"));
    };
    let separator = if separator == Separator::Blanks { guess_separator(&second) } else { separator };
    let cols = self::fields(&second, separator).len();
    if separator != Separator::Blanks && names != cols && !first.contains(&b'"') {
        return Err(lines.error(format!("{cols} fields, expected {names} as in the header line")));
    }
    let layout = Layout { numbers, separator, cols, model_line: lines.line };
    lines.give_back(second);
    Ok(layout)
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
    let mut values = Vec::with_capacity(text.len() / 8);
    let (mut at, mut line) = (0, 0);
    while at < text.len() {
        let end = line_end(text, at);
        let row = text[at..end].trim_ascii();
        if !is_empty_or_comment(row) {
            parse_row(&text[at..end], layout, &mut values).map_err(|message| BadLine { line, message })?;
        }
        at = end + 1;
        line += 1;
    }
    values.shrink_to_fit();
    Ok(values)
}

fn parse_row(row: &[u8], layout: &Layout, values: &mut Vec<f64>) -> std::result::Result<(), String> {
    let first = values.len();
    let mut count = 0;
    let mut field = |text: &[u8]| {
        count += 1;
        if count <= layout.cols {
            values.push(number::field(trim_field(text), layout.numbers).map_err(|message| match trim_field(text) {
                b"" => format!("field {count} is empty, expected a number"),
                _ => format!("field {count}: {message}"),
            })?);
        }
        Ok::<(), String>(())
    };
    match layout.separator {
        Separator::Byte(byte) => row.split(|&b| b == byte).try_for_each(&mut field)?,
        Separator::Blanks => row.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).try_for_each(&mut field)?,
    }
    if count != layout.cols {
        values.truncate(first);
        return Err(format!("{count} fields, expected {} as in line {}", layout.cols, layout.model_line));
    }
    Ok(())
}
