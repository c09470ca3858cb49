//! Computes how many times as fast proofwarp is as others.

use super::Line;

/// Returns whether `name` is an implementation of proofwarp's.
pub(super) fn is_ours(name: &str) -> bool {
    name.starts_with("proofwarp")
}

/// Returns whether `name` was measured beside proofwarp. Published numbers are of other machines.
fn is_peer(name: &str) -> bool {
    !is_ours(name) && !name.contains("published")
}

/// Returns proofwarp's shortest time at the size 2^`log`.
fn our_best(lines: &[Line<'_>], log: f64) -> Option<f64> {
    lines.iter().filter(|line| is_ours(line.name)).filter_map(|line| line.at(log)).reduce(f64::min)
}

/// Returns the gain over `peer` at its largest size, and that size.
fn over(lines: &[Line<'_>], peer: &Line<'_>) -> Option<(f64, f64)> {
    let (log, time) = *peer.points.last()?;
    our_best(lines, log).map(|best| (time / best, log))
}

/// Returns the gain that is written beside each line. With one peer it is that of each implementation of proofwarp's,
/// with several it is that over each peer.
pub(super) fn beside(lines: &[Line<'_>]) -> Vec<Option<String>> {
    let peers: Vec<&Line<'_>> = lines.iter().filter(|line| is_peer(line.name)).collect();
    let of_line = |line: &Line<'_>| match peers[..] {
        [peer] if is_ours(line.name) => {
            let (log, time) = *line.points.last()?;
            peer.at(log)
                .map(|theirs| theirs / time)
                .filter(|gain| *gain > 1.0)
                .map(|gain| format_ratio(gain) + " faster")
        }
        [_, _, ..] if is_peer(line.name) => over(lines, line).map(|(gain, _)| format_ratio(gain) + " slower"),
        _ => None,
    };
    lines.iter().map(of_line).collect()
}

/// Returns a sentence on the gain over the fastest peer at its largest size.
pub(super) fn sentence(lines: &[Line<'_>]) -> Option<String> {
    let peers = lines.iter().filter(|line| is_peer(line.name));
    let gains = peers.filter_map(|peer| over(lines, peer).map(|(gain, log)| (gain, log, peer.name)));
    let (gain, log, peer) = gains.min_by(|one, other| one.0.total_cmp(&other.0)).filter(|(gain, ..)| *gain > 1.0)?;
    Some(format!("proofwarp is {} faster than {peer} at 2^{log}", format_ratio(gain)))
}

/// Formats a ratio with two significant digits.
pub fn format_ratio(ratio: f64) -> String {
    if ratio < 9.95 { format!("{ratio:.1} ×") } else { format!("{ratio:.0} ×") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(name: &str, time: f64) -> Line<'_> {
        Line { name, points: vec![(10.0, time * 2.0), (12.0, time)], is_approximate: false }
    }

    #[test]
    fn gains_are_over_peers_of_the_same_machine() {
        let mut lines = vec![line("proofwarp, resident", 2.0), line("stock", 24.0), line("x, published", 1.0)];
        assert_eq!(beside(&lines), [Some("12 × faster".to_owned()), None, None]);
        lines.push(line("sppark", 5.0));
        let [none, stock, published, sppark] = &beside(&lines)[..] else { panic!("four") };
        assert_eq!((none, published), (&None, &None));
        assert_eq!([stock, sppark].map(|gain| gain.as_deref()), [Some("12 × slower"), Some("2.5 × slower")]);
        assert_eq!(sentence(&lines).as_deref(), Some("proofwarp is 2.5 × faster than sppark at 2^12"));
    }
}
