//! How much of the machine each side used while a load ran: that tells where the time went.

use std::collections::HashMap;
use std::fs;
use std::time::Instant;

/// Clock ticks a second in `/proc/<id>/stat`: 100 on every Linux of our days.
const TICKS: f64 = 100.0;

/// Processor time of some programs, from its creation on.
pub(crate) struct Cores {
    /// Name, process id.
    programs: Vec<(&'static str, u32)>,
    begun: Instant,
    before: HashMap<u32, u64>,
}

impl Cores {
    /// Watches these programs, their children included, and this one as `client`.
    pub(crate) fn watch(programs: &[(&'static str, u32)]) -> Self {
        let mut programs = programs.to_vec();
        programs.push(("client", std::process::id()));
        Self { programs, begun: Instant::now(), before: all().into_iter().map(|one| (one.id, one.ticks)).collect() }
    }

    /// For example `cores: platen 0.92, PostgreSQL 0.71, client 0.30`.
    pub(crate) fn text(&self) -> String {
        let seconds = self.begun.elapsed().as_secs_f64();
        let now = all();
        let used = |program: u32| {
            let own =
                now.iter().filter(|one| one.id == program || (one.parent == program && program != std::process::id()));
            own.map(|one| one.ticks - self.before.get(&one.id).copied().unwrap_or(0)).sum::<u64>() as f64
        };
        let parts: Vec<String> =
            self.programs.iter().map(|(name, id)| format!("{name} {:.2}", used(*id) / TICKS / seconds)).collect();
        format!("cores: {}", parts.join(", "))
    }
}

struct Process {
    id: u32,
    parent: u32,
    /// In user and kernel mode together.
    ticks: u64,
}

fn all() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries.flatten().filter_map(|entry| read(entry.file_name().to_str()?.parse().ok()?)).collect()
}

fn read(id: u32) -> Option<Process> {
    parse(id, &fs::read_to_string(format!("/proc/{id}/stat")).ok()?)
}

/// The name in the second field may hold blanks and parentheses: the rest follows the last one.
fn parse(id: u32, stat: &str) -> Option<Process> {
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    Some(Process { id, parent: u32::try_from(number(1)?).ok()?, ticks: number(11)? + number(12)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parent_and_times_are_read_behind_a_name_with_blanks() {
        let stat = "7 (a (b) c) S 3 7 7 0 -1 4194560 100 0 0 0 40 2 0 0 20 0 1 0 100 0 0";
        let process = parse(7, stat).unwrap();
        assert_eq!((process.id, process.parent, process.ticks), (7, 3, 42));
    }

    #[test]
    fn this_process_is_found() {
        assert!(Cores::watch(&[]).text().starts_with("cores: client "));
    }
}
