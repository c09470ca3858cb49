//! Orders values by their last use, for caches that are bounded by number or by bytes.

/// Holds values in the order of their last use. A cache locks it, and drops what it returns without the lock: values
/// may take other locks, or long, to drop.
///
/// Looking a value up takes time in proportion to the number of values.
#[derive(Debug)]
pub struct LruList<T>(Vec<T>);

impl<T> Default for LruList<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a, T> IntoIterator for &'a LruList<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T> LruList<T> {
    /// Creates an empty list.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Returns the value that `matches`, which becomes the most recently used one. Returns `None` if there is none.
    pub fn find(&mut self, matches: impl FnMut(&T) -> bool) -> Option<&T> {
        let at = self.0.iter().position(matches)?;
        self.0[at..].rotate_left(1);
        self.0.last()
    }

    /// Adds `value` as the most recently used one.
    pub fn insert(&mut self, value: T) {
        self.0.push(value);
    }

    /// Removes the values for which `goes` returns true, and returns them.
    pub fn remove(&mut self, mut goes: impl FnMut(&T) -> bool) -> Vec<T> {
        self.0.extract_if(.., |value| goes(value)).collect()
    }

    /// Removes least recently used values until the others cost at most `limit` together, and returns them. `cost`
    /// returns the cost of a value, or `None` if it is of another group, whose values stay. At least `fewest` values of
    /// the group stay.
    pub fn evict(&mut self, limit: u64, fewest: usize, cost: impl Fn(&T) -> Option<u64>) -> Vec<T> {
        let costs = || self.0.iter().filter_map(&cost);
        let (mut total, mut left) = (costs().fold(0, u64::saturating_add), costs().count());
        self.remove(|value| {
            let Some(cost) = cost(value).filter(|_| total > limit && left > fewest) else { return false };
            total = total.saturating_sub(cost);
            left -= 1;
            true
        })
    }

    /// Returns the values, the least recently used one first.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.0.iter()
    }

    /// Returns the number of values.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Removes all values, and returns them.
    pub fn take_all(&mut self) -> Vec<T> {
        std::mem::take(&mut self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(values: &[u32]) -> LruList<u32> {
        LruList(values.to_vec())
    }

    #[test]
    fn the_last_used_value_comes_last() {
        let mut values = list(&[1, 2, 3]);
        assert_eq!([1, 4].map(|wanted| values.find(|value| *value == wanted).copied()), [Some(1), None]);
        values.insert(5);
        assert_eq!(values.take_all(), [2, 3, 1, 5]);
        assert_eq!(values.iter().count(), 0);
    }

    #[test]
    fn the_oldest_values_of_a_group_go() {
        let odd = |value: &u32| (value % 2 == 1).then_some(u64::from(*value));
        let all = [5, 2, 3, 4, 1];
        for (limit, fewest, gone) in
            [(9, 0, &[][..]), (8, 0, &[5]), (4, 0, &[5]), (3, 0, &[5, 3]), (0, 1, &[5, 3]), (0, 0, &[5, 3, 1])]
        {
            let mut values = list(&all);
            assert_eq!(values.evict(limit, fewest, odd), gone, "{limit}, {fewest}");
            assert!(values.iter().filter(|value| **value % 2 == 0).eq(&[2, 4]));
        }
    }

    #[test]
    fn values_are_removed() {
        let mut values = list(&[1, 2, 3]);
        assert_eq!(values.remove(|value| value % 2 == 1), [1, 3]);
        assert_eq!(values.take_all(), [2]);
    }
}
