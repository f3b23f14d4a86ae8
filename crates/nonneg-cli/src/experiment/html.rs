//! The report: one page that needs nothing else.

use super::analysis::{Entry, Standing};
use super::claims::{Claim, Verdict, scientific, three_digits};
use super::grid::Rules;
use super::summary::{Machine, known};
use super::{LEVEL_NAMES, LEVELS};
use crate::console::grouped;

const STYLE: &str = include_str!("report.css");

/// What the page is about.
pub struct Page<'a> {
    pub title: &'a str,
    pub introduction: &'a str,
    pub standings: &'a [Standing<'a>],
    pub claims: &'a [Claim],
    pub rules: &'a Rules,
    /// The picture of each data set, as SVG.
    pub pictures: &'a [String],
}

impl Page<'_> {
    pub fn to_html(&self) -> String {
        let mut body = format!("<h1>{}</h1>\n<p>{}</p>\n", escape(self.title), escape(self.introduction));
        if !self.claims.is_empty() {
            body += "<h2>The paper's claims, held against this run</h2>\n";
            body += &claims_table(self.claims);
        }
        for (standing, picture) in self.standings.iter().zip(self.pictures) {
            body += &section(standing, picture);
        }
        body += &how(self.rules);
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n{body}</main>\n</body>\n</html>\n",
            escape(self.title)
        )
    }
}

fn section(standing: &Standing, picture: &str) -> String {
    let subject = standing.subject;
    let mut text = format!("<section>\n<h2>{}</h2>\n", escape(&subject.name));
    text += &format!(
        "<p class=\"facts\">{}: {} × {}, {} entries{}; {}.</p>\n",
        escape(&subject.origin),
        grouped(subject.rows),
        grouped(subject.cols),
        grouped(subject.entries),
        if subject.signed { ", some negative" } else { "" },
        escape(&known(standing)),
    );
    text += &format!("<p>{}</p>\n", escape(&findings(standing)));
    text += &format!("<figure>{picture}</figure>\n");
    text += &methods_table(standing);
    text + "</section>\n"
}

/// What the numbers show, in words.
pub fn findings(standing: &Standing) -> String {
    let mut text = String::new();
    for (method, name) in [("si-nnls", "with restarts"), ("si-nnls-norestart", "without restarts")] {
        let Some(entry) = standing.find(method) else { continue };
        text += &match entry.trend {
            Some(trend) if trend.linear => format!(
                "SI-NNLS+ {name} converges linearly, with a digit every {} passes (a straight line explains {:.1} % of the \
                 fall). ",
                three_digits(trend.passes_per_digit),
                100.0 * trend.fit_linear
            ),
            Some(trend) => format!(
                "SI-NNLS+ {name} converges sublinearly: a power law explains {:.1} % of the fall, a straight line {:.1} %. ",
                100.0 * trend.fit_power,
                100.0 * trend.fit_linear
            ),
            None => format!("SI-NNLS+ {name} gives too few digits here to tell how it converges. "),
        };
    }
    text += &order(standing, "passes", |entry, level| entry.passes_to[level]);
    text += &order(standing, "seconds", |entry, level| entry.seconds_to[level]);
    let behind: Vec<&str> = standing
        .entries
        .iter()
        .filter(|entry| entry.shown && entry.passes_to[0].is_none())
        .map(|entry| entry.label.as_str())
        .collect();
    if !behind.is_empty() {
        text += &format!("Not even a gap of {} was reached by {}.", LEVEL_NAMES[0], behind.join("; "));
    }
    text.trim_end().to_owned()
}

/// Who comes first, second and last at the deepest level that two methods reached.
fn order(standing: &Standing, unit: &str, cost: impl Fn(&Entry, usize) -> Option<f64>) -> String {
    for level in (0..LEVELS.len()).rev() {
        let mut reached: Vec<(&Entry, f64)> =
            standing.entries.iter().filter(|entry| entry.shown).filter_map(|entry| Some((entry, cost(entry, level)?))).collect();
        if reached.len() < 2 {
            continue;
        }
        reached.sort_by(|a, b| a.1.total_cmp(&b.1));
        let say = |(entry, cost): &(&Entry, f64)| format!("{} ({})", entry.label, three_digits(*cost));
        let mut text = format!("In {unit} to a gap of {}, {} comes first", LEVEL_NAMES[level], say(&reached[0]));
        text += &format!(", then {}", say(&reached[1]));
        if reached.len() > 2 {
            text += &format!("; last of the {} that got there is {}", reached.len(), say(&reached[reached.len() - 1]));
        }
        return text + ". ";
    }
    String::new()
}

fn methods_table(standing: &Standing) -> String {
    let mut text = String::from("<div class=\"wide\"><table>\n<thead><tr><th rowspan=\"2\">method</th>");
    text += "<th colspan=\"3\">passes to</th><th colspan=\"3\">seconds to</th><th rowspan=\"2\">gap at the end</th>";
    text += "<th rowspan=\"2\">proved gap</th><th rowspan=\"2\">residual</th><th rowspan=\"2\">passes per digit</th></tr>\n<tr>";
    for _ in 0..2 {
        LEVEL_NAMES.iter().for_each(|name| text += &format!("<th>{name}</th>"));
    }
    text += "</tr></thead>\n<tbody>\n";
    let least = |cost: &dyn Fn(&Entry) -> Option<f64>| standing.entries.iter().filter_map(cost).fold(f64::INFINITY, f64::min);
    let best_passes: Vec<f64> = (0..3).map(|level| least(&|entry: &Entry| entry.passes_to[level])).collect();
    let best_seconds: Vec<f64> = (0..3).map(|level| least(&|entry: &Entry| entry.seconds_to[level])).collect();
    for entry in &standing.entries {
        let class = if entry.shown { "" } else { " class=\"hidden-curve\"" };
        text += &format!("<tr{class}><td title=\"{}\">{}</td>", escape(&entry.method), escape(&entry.label));
        for (values, best) in [(&entry.passes_to, &best_passes), (&entry.seconds_to, &best_seconds)] {
            for (value, best) in values.iter().zip(best) {
                text += &match value {
                    Some(value) if value <= best => format!("<td class=\"best\">{}</td>", three_digits(*value)),
                    Some(value) => format!("<td>{}</td>", three_digits(*value)),
                    None => "<td>–</td>".to_owned(),
                };
            }
        }
        let power = |value: Option<f64>| value.map_or("–".to_owned(), scientific);
        let rate = entry
            .trend
            .map_or("–".to_owned(), |trend| if trend.linear { three_digits(trend.passes_per_digit) } else { "grows".to_owned() });
        text += &format!(
            "<td>{}</td><td>{}</td><td>{}</td><td>{rate}</td></tr>\n",
            power(entry.final_gap),
            power(entry.certified_gap),
            power(entry.residual),
        );
    }
    text + "</tbody>\n</table></div>\n"
}

fn claims_table(claims: &[Claim]) -> String {
    let mut text = String::from(
        "<div class=\"wide\"><table class=\"claims\">\n<thead><tr><th>claim</th><th>this run</th><th>figures</th></tr></thead>\n<tbody>\n",
    );
    for claim in claims {
        let class = match claim.verdict {
            Verdict::Agrees => "agrees",
            Verdict::InPart => "in-part",
            Verdict::Disagrees => "disagrees",
            Verdict::Open => "open",
        };
        let evidence: Vec<String> = claim.evidence.iter().map(|line| escape(line)).collect();
        text += &format!(
            "<tr><td>{}</td><td class=\"{class}\">{}</td><td>{}</td></tr>\n",
            escape(claim.text),
            claim.verdict.name(),
            if evidence.is_empty() { "not run".to_owned() } else { evidence.join("<br>") },
        );
    }
    text + "</tbody>\n</table></div>\n"
}

/// What was measured, and on what.
fn how(rules: &Rules) -> String {
    let machine = Machine::here();
    format!(
        "<section>\n<h2>How it was measured</h2>\n<ul>\n\
         <li>Gap: (f(x) − f*)/(f(0) − f*), f* being the best value that any method found; residual: natural residual in parts \
         of that of x = 0. Both start at x = 0 with 1.</li>\n\
         <li>Passes: multiply-adds with entries of A over the entries of A. Checks, block constants, ‖A‖ and Gram matrices count \
         for every method, and so does presolve.</li>\n\
         <li>Every method has {} s for each set, one after the other, and may stop before that at a proved gap of {:.0e}. \
         Points are those at which it was checked.</li>\n\
         <li>FISTA and OA+DS as published: steps in the data's own units, FISTA with L = ‖A‖². Blocks marked “paper's constants” \
         move with σ_max² of the block, the others with one constant per column. Of the block sizes the pictures show the \
         best; the others are grey in the table.</li>\n\
         <li>nonneg {}, {} ({} cores, {} threads used), {}, seed {}.</li>\n</ul>\n</section>\n",
        three_digits(rules.budget.as_secs_f64()),
        rules.tolerance,
        env!("CARGO_PKG_VERSION"),
        escape(&machine.processor),
        machine.cores,
        rules.threads,
        escape(&machine.system),
        rules.seed,
    )
}

/// Text that may stand between tags and in quotes.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::super::analysis::tests::{made_up, subject};
    use super::*;

    #[test]
    fn names_cannot_break_the_page_and_findings_are_computed() {
        let mut subject = subject(vec![
            made_up("si-nnls", |passes| 10f64.powf(-passes / 80.0)),
            made_up("si-nnls-norestart", |passes| 30.0 / (passes + 5.0).powi(2)),
            made_up("oa-ds", |_| 0.9),
            made_up("auto", |_| 0.0),
        ]);
        subject.name = "<script>&\"".into();
        let standings = [Standing::new(&subject)];
        let text = findings(&standings[0]);
        assert!(text.contains("with restarts converges linearly, with a digit every 80.0 passes"), "{text}");
        assert!(text.contains("without restarts converges sublinearly"), "{text}");
        assert!(text.contains("Not even a gap of 1e-2 was reached by oa-ds."), "{text}");
        let rules = Rules { budget: std::time::Duration::from_secs(5), tolerance: 1e-9, seed: 0, threads: 1 };
        let claims = super::super::claims::check(&standings);
        let page = Page {
            title: "a & b",
            introduction: "i",
            standings: &standings,
            claims: &claims,
            rules: &rules,
            pictures: &["<svg></svg>".to_owned()],
        };
        let html = page.to_html();
        assert!(html.contains("&lt;script&gt;&amp;&quot;") && !html.contains("<script>"));
        for tag in ["table", "section", "tr", "td", "th", "ul", "li", "main", "div"] {
            let count = |text: String| html.matches(&text).count();
            let opened = count(format!("<{tag}>")) + count(format!("<{tag} "));
            assert_eq!(opened, count(format!("</{tag}>")), "{tag}");
        }
        assert!(!html.contains("http"), "the page must not need the network");
    }
}
