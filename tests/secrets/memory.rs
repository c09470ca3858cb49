//! The memory of another process.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::{DirEntry, File, read_dir, read_to_string};
use std::io::{Error, Result};
use std::os::unix::fs::FileExt;
use std::thread::sleep;
use std::time::Duration;

use crate::numbers::Patterns;

const PAGE: usize = 4096;
/// Pages that are read at a time, and bytes of the next ones, so that none is cut.
const PAGES: usize = 256;
const MORE: usize = 32;
/// Bytes of the stacks of Rust's threads. Others have as many as the process's limit says.
const OF_RUST: usize = 2 << 20;

/// Whose memory it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    /// The heap, mapped memory, and all that a device has, unless it is a stack.
    Heap,
    /// The stack of a thread of this crate's, rayon's, or the program's.
    Stack,
    /// The stack of a thread of the OpenCL driver's, which has the private and local memory of work-items.
    Driver,
}

/// Secrets that were found, and where.
#[derive(Default)]
pub struct Found {
    /// The areas that hold each secret, once for every copy: owner, start address and name.
    places: BTreeMap<usize, Vec<(Owner, usize, String)>>,
    pages: usize,
}

impl Found {
    /// Returns the number of distinct secrets in all memory of `owner`.
    pub fn of(&self, owner: Owner) -> usize {
        self.places.values().filter(|places| places.iter().any(|(other, ..)| *other == owner)).count()
    }

    /// Returns the largest number of distinct secrets in one thread's stack. blst and rayon have a thread per core, so
    /// the sum over all stacks grows with the machine.
    pub fn max_of_one_stack(&self) -> usize {
        let mut stacks = BTreeMap::<usize, BTreeSet<usize>>::new();
        for (secret, places) in &self.places {
            for (_, start, _) in places.iter().filter(|(owner, ..)| *owner == Owner::Stack) {
                stacks.entry(*start).or_default().insert(*secret);
            }
        }
        stacks.values().map(BTreeSet::len).max().unwrap_or(0)
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places: usize = self.places.values().map(Vec::len).sum();
        write!(f, "{} secrets in {places} places, {} pages read", self.places.len(), self.pages)?;
        let mut areas = BTreeMap::<_, usize>::new();
        for (owner, _, area) in self.places.values().flatten() {
            *areas.entry((owner, area)).or_default() += 1;
        }
        write!(f, ", at most {} in one thread's stack", self.max_of_one_stack())?;
        areas.iter().try_for_each(|((owner, area), count)| write!(f, "; {count} in {owner:?}, {area}"))
    }
}

/// A range of addresses, from /proc/PID/maps.
struct Area {
    start: usize,
    end: usize,
    owner: Owner,
    name: String,
}

impl Area {
    /// One that can be written to, and so may have secrets; it may yet be found to be a stack.
    fn of(line: &str) -> Option<Self> {
        let mut fields = line.split_whitespace();
        let (start, end) = fields.next()?.split_once('-')?;
        let [start, end] = [start, end].map(|number| usize::from_str_radix(number, 16).ok());
        let writable = fields.next()?.starts_with("rw");
        let name = fields.nth(3).unwrap_or("no file");
        let (start, end) = (start?, end?);
        let name = format!("{} KiB of {name}", (end - start) >> 10);
        writable.then_some(Self { start, end, owner: Owner::Heap, name })
    }
}

impl Area {
    fn name_stack(&mut self, stacks: &[(usize, String)]) {
        let Some((_, thread)) = stacks.iter().find(|(pointer, _)| (self.start..self.end).contains(pointer)) else {
            return;
        };
        self.owner = if self.end - self.start > OF_RUST { Owner::Driver } else { Owner::Stack };
        self.name = format!("{} of the stack of {thread}", self.name);
    }
}

/// Reads all memory of a process that is there, word by word.
pub fn scan(process: u32, patterns: &Patterns) -> Result<Found> {
    let maps = read_to_string(format!("/proc/{process}/maps"))?;
    let memory = File::open(format!("/proc/{process}/mem"))?;
    let pages = File::open(format!("/proc/{process}/pagemap"))?;
    let mut found = Found::default();
    let stacks = stacks(process)?;
    for mut area in maps.lines().filter_map(Area::of) {
        area.name_stack(&stacks);
        let there = present(&pages, &area)?;
        for piece in (0..there.len()).step_by(PAGES) {
            let some = &there[piece..there.len().min(piece + PAGES)];
            if some.iter().any(|there| *there) {
                look(&memory, &area, (piece, some), patterns, &mut found);
            }
        }
    }
    Ok(found)
}

/// The stack pointers of a process's threads, once all of them wait, with the threads' names.
fn stacks(process: u32) -> Result<Vec<(usize, String)>> {
    let stack = |thread: DirEntry| {
        let call = read_to_string(thread.path().join("syscall")).ok()?;
        let name = read_to_string(thread.path().join("comm")).ok()?;
        let pointer = call.split_whitespace().rev().nth(1)?.strip_prefix("0x")?;
        Some((usize::from_str_radix(pointer, 16).ok()?, name.trim().to_owned()))
    };
    for _ in 0..100 {
        let threads: Vec<_> = read_dir(format!("/proc/{process}/task"))?.map_while(Result::ok).map(stack).collect();
        if threads.iter().all(Option::is_some) {
            return Ok(threads.into_iter().flatten().collect());
        }
        sleep(Duration::from_millis(20));
    }
    Err(Error::other("a thread goes on"))
}

/// Which pages of an area are in memory.
fn present(pages: &File, area: &Area) -> Result<Vec<bool>> {
    const THERE: u64 = 3 << 62;
    let mut entries = vec![0; 8 * ((area.end - area.start) / PAGE)];
    pages.read_exact_at(&mut entries, 8 * (area.start / PAGE) as u64)?;
    Ok(entries.as_chunks().0.iter().map(|entry| u64::from_le_bytes(*entry) & THERE != 0).collect())
}

/// Looks at some pages of an area. Those that cannot be read are a device's.
fn look(memory: &File, area: &Area, (first, there): (usize, &[bool]), patterns: &Patterns, found: &mut Found) {
    let start = area.start + first * PAGE;
    let bytes = (there.len() * PAGE + MORE).min(area.end - start);
    let mut words = vec![0u32; bytes / 4];
    if memory.read_exact_at(bytemuck::cast_slice_mut(&mut words), start as u64).is_err() {
        return;
    }
    for (page, _) in there.iter().enumerate().filter(|(_, there)| **there) {
        let words = &words[page * (PAGE / 4)..words.len().min((page + 1) * (PAGE / 4) + MORE / 4)];
        found.pages += 1;
        if words.iter().any(|word| *word != 0) {
            for window in words.windows(8).take(PAGE / 4) {
                if let Some(number) = patterns.secret(window) {
                    found.places.entry(number).or_default().push((area.owner, area.start, area.name.clone()));
                }
            }
        }
    }
}
