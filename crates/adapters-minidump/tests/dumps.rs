//! Decision I6: small dumps, whole and damaged at every place.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use adapters_minidump::{ChildProcessReader, facts, run_child};
use domain::error::StoreError;
use domain::minidump::{DumpFacts, DumpReader, DumpSource, Place, UnreadDump};
use futures_util::{StreamExt, stream};
use minidump_synth::{
    CrashpadInfo, DumpString, Exception, Memory, Module, STOCK_VERSION_INFO, SynthMinidump, SystemInfo, Thread,
    UnloadedModule, amd64_context,
};
use std::fs::{self, File, Permissions};
use std::io::stdin;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use test_assembler::{Endian, Section};

const LITTLE: Endian = Endian::Little;

/// Names the file to which the child process writes.
const OUTPUT: &str = "PLATEN_TEST_OUTPUT";

/// The dump of a Windows program of two threads that crashed in Rip.exe.
fn dump() -> Vec<u8> {
    let name = DumpString::new("C:\\Rip\\Rip.exe", LITTLE);
    let (library, gone) = (DumpString::new("ntdll.dll", LITTLE), DumpString::new("old.dll", LITTLE));
    let crashed = amd64_context(LITTLE, 0x0001_4000_1a2b, 0x1000);
    let waiting = amd64_context(LITTLE, 0x7ffc_0000_0010, 0x1000);
    let stack = Memory::with_section(Section::with_endian(LITTLE).append_repeated(0, 64), 0x1000);
    let mut exception = Exception::new(LITTLE);
    exception.thread_id = 7;
    exception.exception_record.exception_code = 0xC000_0005;
    exception.exception_record.number_parameters = 2;
    exception.exception_record.exception_information[1] = 4;
    SynthMinidump::with_endian(LITTLE)
        .add_system_info(SystemInfo::new(LITTLE).set_processor_architecture(9).set_platform_id(2))
        .add_module(Module::new(LITTLE, 0x0001_4000_0000, 0x10_0000, &name, 1, 0, Some(&STOCK_VERSION_INFO)))
        .add_module(Module::new(LITTLE, 0x7ffc_0000_0000, 0x10_0000, &library, 1, 0, None))
        .add_unloaded_module(UnloadedModule::new(LITTLE, 0x5000_0000, 0x1000, &gone, 1, 0))
        .add_thread(Thread::new(LITTLE, 7, &stack, &crashed))
        .add_thread(Thread::new(LITTLE, 8, &stack, &waiting))
        .add_exception(exception)
        .add_crashpad_info(CrashpadInfo::new(LITTLE).add_simple_annotation("build", "4711"))
        .add(name)
        .add(library)
        .add(gone)
        .add(crashed)
        .add(waiting)
        .add_memory(stack)
        .finish()
        .unwrap()
}

#[test]
fn a_dump_says_what_happened_where() {
    let facts = facts(&dump()).unwrap();
    assert_eq!(facts.problems, Vec::<String>::new());
    assert_eq!(facts.operating_system.as_deref(), Some("Windows NT"));
    assert_eq!(facts.processor.as_deref(), Some("amd64"));
    assert_eq!(facts.exception.as_deref(), Some("EXCEPTION_ACCESS_VIOLATION_READ"));
    assert_eq!(facts.exception_address.as_deref(), Some("0x0000000000000004"));
    let place = |module: &str, offset, address: &str| {
        Some(Place { module: Some(module.to_owned()), offset: Some(offset), address: address.to_owned() })
    };
    let crashed = place("C:\\Rip\\Rip.exe", 0x1a2b, "0x0000000140001a2b");
    assert_eq!((&facts.place, facts.crashed_thread), (&crashed, Some(7)));
    let threads: Vec<_> = facts.threads.iter().map(|thread| (thread.id, thread.place.clone())).collect();
    assert_eq!(threads, [(7, crashed), (8, place("ntdll.dll", 0x10, "0x00007ffc00000010"))]);
    let modules: Vec<_> = facts.modules.iter().map(|module| (module.name.as_str(), module.size)).collect();
    assert_eq!(modules, [("C:\\Rip\\Rip.exe", 0x10_0000), ("ntdll.dll", 0x10_0000)]);
    assert_eq!(facts.unloaded_modules[0].name, "old.dll");
    assert_eq!(facts.annotations, [("build".to_owned(), "4711".to_owned())]);
    assert_eq!(facts.signed_frame().frame.unwrap().to_string(), "rip@0x1a2b");
}

/// Counts are as they were or 0, so that no reader asks for more memory than the dump has. The directory is at the end of
/// these dumps: one that is cut off has lost it, one whose middle is blank still has it.
#[test]
fn a_dump_that_is_cut_off_or_blank_says_what_is_left() {
    let whole = dump();
    let directory = u32::from_le_bytes(whole[12..16].try_into().unwrap()) as usize;
    let mut with_problems = 0;
    for length in 0..whole.len() {
        if let Err(reason) = facts(&whole[..length]) {
            assert!(reason.starts_with("it is no minidump or is damaged: "), "{reason}");
        }
        if (32..directory).contains(&length) {
            let mut blank = whole.clone();
            blank[length..directory].fill(0);
            with_problems += usize::from(!facts(&blank).unwrap().problems.is_empty());
        }
    }
    assert!(with_problems > 0);
}

/// This test as the child process of the others; without them it has nothing to read.
#[test]
fn the_child_process_of_these_tests() {
    if let Some(output) = std::env::var_os(OUTPUT) {
        run_child(stdin().lock(), File::create(output).unwrap()).unwrap();
    }
}

/// A program that calls the test above as the server calls itself.
fn program(folder: &TempDir) -> ChildProcessReader {
    let (script, output) = (folder.path().join("child"), folder.path().join("output"));
    let (test, output) = (std::env::current_exe().unwrap(), output.display().to_string());
    let call = format!("{OUTPUT}={output} {} --exact the_child_process_of_these_tests >/dev/null 2>&1", test.display());
    fs::write(&script, format!("#!/bin/sh\nset -eu\n{call}\nexec /bin/cat {output}\n")).unwrap();
    fs::set_permissions(&script, Permissions::from_mode(0o700)).unwrap();
    ChildProcessReader::new(script, 1024 * 1024)
}

async fn read(reader: &ChildProcessReader, dump: &[u8]) -> Result<DumpFacts, UnreadDump> {
    let chunks: Vec<_> = dump.chunks(100).map(|chunk| Ok::<_, StoreError>(chunk.to_vec().into())).collect();
    reader.read(DumpSource { content: stream::iter(chunks).boxed(), size: dump.len() as u64 }).await
}

#[tokio::test]
async fn a_child_process_reads_a_dump() {
    let folder = TempDir::new().unwrap();
    let reader = program(&folder);
    let dump = dump();
    assert_eq!(read(&reader, &dump).await, Ok(facts(&dump).unwrap()));
    assert!(matches!(read(&reader, b"MDMP").await, Err(UnreadDump::Unreadable(reason)) if reason.contains("damaged")));
    let large = read(&reader, &vec![0; 2 * 1024 * 1024]).await;
    assert!(matches!(large, Err(UnreadDump::Unreadable(reason)) if reason.contains("up to 1048576 bytes")));
}

#[tokio::test]
async fn a_program_that_cannot_be_started_is_tried_again_later() {
    let reader = ChildProcessReader::new("no/such/program".into(), 1024);
    assert!(matches!(read(&reader, b"MDMP").await, Err(UnreadDump::Unavailable(_))));
}

/// Every field of 32 bits that may be a length, a count or an offset. The reader ends or answers, within its bounds.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn raised_length_fields_never_end_the_server() {
    let whole = dump();
    let raise = |start: usize| {
        let mut damaged = whole.clone();
        tokio::spawn(async move {
            let folder = TempDir::new().unwrap();
            let reader = program(&folder);
            for field in (start..damaged.len() - 3).step_by(16) {
                let kept: [u8; 4] = damaged[field..field + 4].try_into().unwrap();
                for value in [u32::MAX, 0x0fff_ffff] {
                    damaged[field..field + 4].copy_from_slice(&value.to_le_bytes());
                    let begun = Instant::now();
                    let found = read(&reader, &damaged).await;
                    assert!(!matches!(found, Err(UnreadDump::Unavailable(_))), "{field}: {found:?}");
                    assert!(begun.elapsed() < Duration::from_secs(15), "{field}");
                }
                damaged[field..field + 4].copy_from_slice(&kept);
            }
        })
    };
    for task in [0, 4, 8, 12].map(raise) {
        task.await.unwrap();
    }
}
