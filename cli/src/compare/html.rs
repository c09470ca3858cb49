//! Renders a comparison as a page that needs nothing else: it contains its style, its plots, and the script of the buttons
//! that copy tables.

use anyhow::Result;
use bench_support::plot::Plot;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::results::Comparison;
use super::{plot, print, verdict};

const STYLE: &str = "
:root { color-scheme: light dark; --line: #8884; --soft: #8881; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; line-height: 1.25; } h2 { font-size: 1.2rem; margin-top: 2rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .7rem; border-bottom: 1px solid var(--line); text-align: right; }
th:first-child { text-align: left; white-space: nowrap; }
td:nth-child(2) { background: var(--soft); font-weight: 600; }
@media (max-width: 40rem) {
table, tbody, tr, tr > * { display: block; } thead { display: none; } tr { margin-bottom: .8rem; }
td { display: flex; justify-content: space-between; gap: 1rem; } td::before { content: attr(data-name); text-align: left; }
tbody th { padding-left: 0; } tbody th::after { content: ' ' attr(data-name); }
}
figure { margin: 1.5rem 0; max-width: 40rem; } figcaption { font-weight: 600; }
svg { width: 100%; height: auto; display: block; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: .1rem 1rem; padding: 0; margin: .4rem 0; font-size: .9rem; }
.legend span { display: inline-block; width: .8rem; height: .8rem; border-radius: .15rem; margin-right: .4rem; }
.copy { display: flex; flex-wrap: wrap; gap: 1rem; align-items: baseline; margin: .7rem 0; }
button { font: inherit; padding: .2rem .7rem; } details { max-width: 100%; }
code, pre { background: var(--soft); padding: .1rem .3rem; } pre { overflow-x: auto; overflow-wrap: normal; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; } dd { margin: 0; }
";

/// Shows the buttons, and copies the Markdown beside each. Where a browser refuses that, it selects the Markdown.
const SCRIPT: &str = "
for (const button of document.querySelectorAll('.copy button')) {
    const details = button.parentElement.querySelector('details'), text = details.querySelector('pre');
    const select = () => { details.open = true; getSelection().selectAllChildren(text); };
    const copied = () => { button.textContent = 'Copied'; };
    button.hidden = false;
    button.onclick = () => navigator.clipboard ? navigator.clipboard.writeText(text.textContent).then(copied, select) : select();
}
";

/// Renders `comparison` as an HTML page, which needs no other file.
///
/// # Errors
/// Returns an error if a plot cannot be drawn.
pub fn page(comparison: &Comparison) -> Result<String> {
    let operations: Vec<Markup> =
        comparison.operations().into_iter().map(|operation| section(comparison, operation)).collect::<Result<_>>()?;
    let title = format!("proofwarp compare {}", comparison.what);
    let verdict = verdict::sentence(comparison).unwrap_or_else(|| title.clone());
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
                h1 { (verdict) }
                p { (machine(comparison)) }
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
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    Ok(page.into_string())
}

/// Returns the devices, the host and the day.
fn machine(comparison: &Comparison) -> String {
    let parts = comparison.environment("device").chain(comparison.environment("host"));
    parts.chain([comparison.date.as_str()]).collect::<Vec<_>>().join("; ")
}

fn section(comparison: &Comparison, operation: &str) -> Result<Markup> {
    let (sizes, phases) = (plot::sizes(comparison, operation)?, plot::phases(comparison, operation)?);
    Ok(html! {
        section {
            h2 { (operation) }
            (table(comparison, operation))
            @if let Some(plot) = sizes { (figure("Time by size", &plot)) }
            @if let Some(plot) = phases { (figure("Time by phase at the largest size", &plot)) }
        }
    })
}

/// Renders the table of `operation` with a row per size, and a button that copies it.
fn table(comparison: &Comparison, operation: &str) -> Markup {
    let (header, rows) = print::rows_by_size(comparison, operation);
    let first = header.get(1).map_or("", String::as_str);
    html! {
        p { "Median times in ms. In brackets: how many times as long as " (first) "." }
        table {
            thead { tr { @for cell in &header { th { (cell) } } } }
            tbody {
                @for row in &rows {
                    tr {
                        th data-name=(header[0]) { (row[0]) }
                        @for (name, cell) in header.iter().zip(row).skip(1) { td data-name=(name) { (cell) } }
                    }
                }
            }
        }
        div class="copy" {
            button type="button" hidden { "Copy as Markdown" }
            details { summary { "Markdown" } pre { (print::markdown(comparison, operation)) } }
        }
    }
}

fn figure(title: &str, plot: &Plot) -> Markup {
    html! {
        figure {
            figcaption { (title) }
            @if !plot.legend.is_empty() {
                ul class="legend" {
                    @for (colour, name) in &plot.legend { li { span style={ "background: " (colour) } {} (name) } }
                }
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
            date: "2026-11-30".to_owned(),
            environment: [("host", "2 cores"), ("device", "NVIDIA H200 (cuda), 139.8 GiB")]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .to_vec(),
            measurements: vec![
                measurement("proofwarp", 10, 1.0, phases),
                measurement("proofwarp", 12, 3.0, phases),
                measurement("stock, CPU", 10, 20.0, &[]),
                measurement("stock, CPU", 12, 60.0, &[]),
            ],
            left_out: vec!["stock's own kernels".to_owned()],
            checked: vec!["equal sums".to_owned()],
        }
    }

    #[test]
    fn the_page_has_its_tables_and_plots_and_nothing_from_elsewhere() {
        let page = page(&comparison()).expect("a page");
        assert_eq!(page.matches("<svg").count(), 2, "time by size, time by phase");
        assert_eq!([page.matches("<table>").count(), page.matches("<script>").count()], [1, 1]);
        for part in [
            "<h1>proofwarp is 20 × faster than stock (CPU) on this NVIDIA H200 (MSM &lt;pallas&gt;, 2^12)</h1>",
            "NVIDIA H200 (cuda), 139.8 GiB; 2 cores; 2026-11-30",
            "| 2^12 | 3.00 | 60.0 (20.0 ×) |",
            "proofwarp compare msm",
            "viewport",
            "color-scheme: light dark",
        ] {
            assert!(page.contains(part), "{part}");
        }
        for part in ["http-equiv", "@import", "href=", "src=", "url("] {
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

    #[test]
    fn a_slower_proofwarp_is_no_gain() {
        let mut comparison = comparison();
        comparison.measurements.iter_mut().for_each(|one| one.milliseconds = 1.0 / one.milliseconds);
        comparison.environment.clear();
        let sentence = verdict::sentence(&comparison).expect("a sentence");
        assert_eq!(sentence, "proofwarp takes 20 × as long as stock (CPU) on this machine (MSM <pallas>, 2^12)");
        comparison.measurements.retain(|one| one.implementation == "proofwarp");
        assert_eq!(verdict::sentence(&comparison), None);
    }

    #[test]
    fn one_size_has_a_bar_for_each_implementation() {
        let mut comparison = comparison();
        comparison.measurements.retain(|one| one.log == 12);
        let plot = plot::sizes(&comparison, "msm <pallas>").expect("a plot").expect("a plot");
        assert_eq!((plot.svg.matches("<rect").count(), plot.legend.len()), (2, 0));
    }
}
