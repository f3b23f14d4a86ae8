//! Writes a comparison down.

use std::path::Path;

use super::analysis::Standing;
use super::claims::Claim;
use super::curve::{self, Subject};
use super::grid::Rules;
use super::html::Page;
use super::{pictures, summary};
use crate::console;
use crate::failure::Failure;
use crate::plot::Format;
use crate::progress::GridProgress;

/// What is finished is kept.
pub fn interrupted(progress: &mut GridProgress, output: &str) -> Result<u8, Failure> {
    progress.finish();
    let done = progress.done();
    console::print_error(&format!("interrupted: {done} finished curves are kept in {output}; run again to go on\n"));
    Ok(crate::interrupt::exit_code())
}

/// Pictures, tables and the report, into a folder that exists.
pub fn write(
    output: &Path,
    title: &str,
    introduction: &str,
    subjects: &[Subject],
    claims: impl Fn(&[Standing]) -> Vec<Claim>,
    rules: &Rules,
    quiet: bool,
) -> Result<u8, Failure> {
    let standings: Vec<Standing> = subjects.iter().map(Standing::new).collect();
    let claims = claims(&standings);
    let put = |name: &str, bytes: &[u8]| -> Result<(), Failure> {
        Ok(nonneg_io::write_bytes(&output.join(name).to_string_lossy(), bytes)?)
    };
    put("curves.csv", curve::to_csv(subjects).as_bytes())?;
    put("summary.json", &summary::to_json(&standings, &claims, rules)?)?;
    for picture in pictures::panels(&standings) {
        for (format, ending) in [(Format::Svg, "svg"), (Format::Png, "png")] {
            put(&format!("{}.{ending}", picture.name), &picture.render(format)?)?;
        }
    }
    for (format, ending) in [(Format::Svg, "svg"), (Format::Png, "png")] {
        put(&format!("figure.{ending}"), &pictures::figure(&standings, format)?)?;
    }
    let pictures: Vec<String> = standings.iter().map(pictures::inline).collect::<Result<_, _>>()?;
    let page = Page { title, introduction, standings: &standings, claims: &claims, rules, pictures: &pictures };
    put("report.html", page.to_html().as_bytes())?;
    if !quiet {
        let table = summary::table(&standings, &claims);
        console::print(&format!("{table}\nwritten    {}\n", output.join("report.html").display()))?;
    }
    Ok(crate::DONE)
}
