//! Renders a comparison as a page that needs nothing else: it contains its style and its plots, and runs no script.

use anyhow::Result;
use bench_support::plot::Plot;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::results::Comparison;
use super::{plot, print};

const STYLE: &str = "
:root { color-scheme: light dark; --line: #8884; --soft: #8881; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .7rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
tbody tr:first-child { background: var(--soft); font-weight: 600; }
figure { margin: 1.5rem 0; max-width: 40rem; } figcaption { font-weight: 600; }
svg { width: 100%; height: auto; display: block; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: .1rem 1rem; padding: 0; margin: .4rem 0; font-size: .9rem; }
.legend span { display: inline-block; width: .8rem; height: .8rem; border-radius: .15rem; margin-right: .4rem; }
code { background: var(--soft); padding: .1rem .3rem; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; } dd { margin: 0; overflow-wrap: anywhere; }
";

/// Renders `comparison` as an HTML page, which needs no other file.
///
/// # Errors
/// Returns an error if a plot cannot be drawn.
pub fn page(comparison: &Comparison) -> Result<String> {
    let operations: Vec<Markup> =
        comparison.operations().into_iter().map(|operation| section(comparison, operation)).collect::<Result<_>>()?;
    let title = format!("proofwarp compare {}", comparison.what);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { (title) }
                p { "Made by " code { (comparison.command) } }
                @for operation in &operations { (operation) }
                h2 { "Checked" }
                ul { @for line in &comparison.checked { li { (line) } } }
                @if !comparison.left_out.is_empty() {
                    h2 { "Left out" }
                    ul { @for line in &comparison.left_out { li { (line) } } }
                }
                h2 { "Environment" }
                dl { @for (name, value) in &comparison.environment { dt { (name) } dd { (value) } } }
            }
        }
    };
    Ok(page.into_string())
}

fn section(comparison: &Comparison, operation: &str) -> Result<Markup> {
    let (header, rows) = print::rows(comparison, operation);
    let (sizes, phases) = (plot::sizes(comparison, operation)?, plot::phases(comparison, operation)?);
    Ok(html! {
        section {
            h2 { (operation) }
            p { "Median times in ms, and how many times as long as the first row." }
            div class="wide" {
                table {
                    thead { tr { @for cell in &header { th { (cell) } } } }
                    tbody { @for row in &rows { tr { @for cell in row { td { (cell) } } } } }
                }
            }
            @if let Some(plot) = sizes { (figure("Time by size", &plot)) }
            @if let Some(plot) = phases { (figure("Time by phase at the largest size", &plot)) }
        }
    })
}

fn figure(title: &str, plot: &Plot) -> Markup {
    html! {
        figure {
            figcaption { (title) }
            ul class="legend" {
                @for (colour, name) in &plot.legend { li { span style={ "background: " (colour) } {} (name) } }
            }
            (PreEscaped(&plot.svg))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::results::{Measurement, Phase};
    use super::*;

    fn comparison() -> Comparison {
        let measurement = |implementation: &str, log, milliseconds, phases: &[Phase]| Measurement {
            operation: "msm <pallas>".to_owned(),
            implementation: implementation.to_owned(),
            log,
            milliseconds,
            phases: phases.to_vec(),
        };
        let phase = |(name, milliseconds)| Phase { name, milliseconds };
        let phases = &[("upload", 0.5), ("kernels", 2.0), ("download", 0.1)].map(phase);
        Comparison {
            what: "msm".to_owned(),
            command: "proofwarp compare msm".to_owned(),
            environment: vec![("host".to_owned(), "2 cores".to_owned())],
            measurements: vec![
                measurement("proofwarp", 10, 1.0, phases),
                measurement("proofwarp", 12, 3.0, phases),
                measurement("stock", 10, 20.0, &[]),
                measurement("stock", 12, 60.0, &[]),
            ],
            left_out: vec!["stock's own kernels".to_owned()],
            checked: vec!["equal sums".to_owned()],
        }
    }

    #[test]
    fn the_page_has_its_tables_and_plots_and_nothing_from_elsewhere() {
        let page = page(&comparison()).expect("a page");
        assert_eq!(page.matches("<svg").count(), 2, "time by size, time by phase");
        assert_eq!(page.matches("<table>").count(), 1);
        for part in
            ["60.0 (20.0 ×)", "msm &lt;pallas&gt;", "proofwarp compare msm", "viewport", "color-scheme: light dark"]
        {
            assert!(page.contains(part), "{part}");
        }
        for part in ["<script", "http-equiv", "@import", "href=", "src=", "url("] {
            assert!(!page.contains(part), "{part}");
        }
        let addresses = page.matches("http").count();
        assert_eq!(addresses, page.matches("http://www.w3.org/2000/svg").count(), "no other address");
        assert!(!page.contains("#000000"), "black is the page's colour of text");
    }

    #[test]
    fn without_phases_there_is_no_plot_of_them() {
        let mut comparison = comparison();
        comparison.measurements.iter_mut().for_each(|one| one.phases.clear());
        assert_eq!(page(&comparison).expect("a page").matches("<svg").count(), 1);
    }
}
