//! Gives plots the colours of a light or a dark page.

/// Style of a plot that is a file: the browser says whether the page is light or dark.
const STYLE: &str = "<style>svg { color: #1f2328; background: #fff } \
    @media (prefers-color-scheme: dark) { svg { color: #e6edf3; background: #0d1117 } }</style>";

/// Replaces black in the plot `svg` by the colour of the page's text, and makes the plot as wide as the page.
pub(super) fn for_page(svg: &str) -> String {
    let svg = with_text_colour(svg);
    let Some((head, rest)) = svg.split_once(" width=\"") else { return svg };
    let after = rest.split_once("height=\"").and_then(|(_, rest)| rest.split_once('"'));
    format!("{head} role=\"img\"{}", after.map_or(rest, |(_, rest)| rest))
}

/// Gives the plot `svg` a `title` for those who do not see it, and colours that follow the reader's choice.
pub(super) fn for_file(svg: &str, title: &str) -> String {
    let svg = with_text_colour(svg);
    let title = title.replace('&', "&amp;").replace('<', "&lt;");
    let Some((head, rest)) = svg.split_once('>') else { return svg };
    format!("{head} role=\"img\">\n<title>{title}</title>\n{STYLE}{rest}")
}

fn with_text_colour(svg: &str) -> String {
    svg.replace("#000000", "currentColor")
}
