//! Prints the page of all environment variables: `cargo run --example settings > docs/settings.md`.

fn main() {
    print!("{}", proofwarp::settings::table::render_settings_page());
}
