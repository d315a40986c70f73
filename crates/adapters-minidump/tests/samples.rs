//! The small dumps that the demo of the program stores.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use adapters_minidump::facts;
use minidump_synth::{
    DumpString, Exception, Memory, Module, STOCK_VERSION_INFO, SynthMinidump, SystemInfo, Thread, amd64_context,
};
use std::fs;
use std::path::Path;
use test_assembler::{Endian, Section};

const LITTLE: Endian = Endian::Little;

/// Writes the files anew when it is set.
const RENEW: &str = "PLATEN_RENEW_SAMPLES";

/// The dump of a Windows program that crashed `offset` bytes into its own module.
fn dump(code: u32, address: u64, offset: u64) -> Vec<u8> {
    let program = DumpString::new("C:\\Program Files\\Rip Studio\\RipStudio.exe", LITTLE);
    let libraries = ["C:\\Windows\\System32\\ntdll.dll", "C:\\Windows\\System32\\kernel32.dll", "ColorEngine.dll"];
    let libraries = libraries.map(|name| DumpString::new(name, LITTLE));
    let crashed = amd64_context(LITTLE, 0x0001_4000_0000 + offset, 0x1000);
    let waiting = amd64_context(LITTLE, 0x7ffc_0000_0010, 0x1000);
    let stack = Memory::with_section(Section::with_endian(LITTLE).append_repeated(0, 64), 0x1000);
    let mut exception = Exception::new(LITTLE);
    exception.thread_id = 10_820;
    exception.exception_record.exception_code = code;
    exception.exception_record.number_parameters = 2;
    exception.exception_record.exception_information[1] = address;
    let mut dump = SynthMinidump::with_endian(LITTLE)
        .add_system_info(SystemInfo::new(LITTLE).set_processor_architecture(9).set_platform_id(2))
        .add_module(Module::new(LITTLE, 0x0001_4000_0000, 0x120_0000, &program, 1, 0, Some(&STOCK_VERSION_INFO)));
    for (library, base) in libraries.iter().zip([0x7ffc_0000_0000, 0x7ffb_0000_0000, 0x0001_8000_0000]) {
        dump = dump.add_module(Module::new(LITTLE, base, 0x20_0000, library, 1, 0, None));
    }
    dump = dump
        .add_thread(Thread::new(LITTLE, 10_820, &stack, &crashed))
        .add_thread(Thread::new(LITTLE, 10_936, &stack, &waiting))
        .add_thread(Thread::new(LITTLE, 11_048, &stack, &waiting))
        .add_exception(exception)
        .add(program);
    for library in libraries {
        dump = dump.add(library);
    }
    dump.add(crashed).add(waiting).add_memory(stack).finish().unwrap()
}

#[test]
fn the_dumps_of_the_demo_say_what_happened() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../server/src/demo/files");
    for (name, dump, exception) in [
        ("access_violation.dmp", dump(0xC000_0005, 0x18, 0x4f_2a10), "EXCEPTION_ACCESS_VIOLATION_READ"),
        ("stack_overflow.dmp", dump(0xC000_00FD, 0x10, 0x1b_90c4), "EXCEPTION_STACK_OVERFLOW"),
    ] {
        let path = folder.join(name);
        if std::env::var_os(RENEW).is_some() {
            fs::write(&path, &dump).unwrap();
        }
        assert!(fs::read(&path).unwrap() == dump, "{name} is another one; {RENEW}=1 writes it");
        let facts = facts(&dump).unwrap();
        assert_eq!(facts.exception.as_deref(), Some(exception));
        assert_eq!((facts.threads.len(), facts.modules.len()), (3, 4));
        assert!(dump.len() < 8 * 1024, "{}", dump.len());
    }
}
