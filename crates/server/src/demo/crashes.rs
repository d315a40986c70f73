//! Crash reports of faults that come again, with call stacks of several languages.

use super::parts::Parts;
use domain::crash_report::AddCrashReport;
use fastrand::Rng;

/// A fault of a program.
struct Fault {
    application: &'static str,
    os: &'static str,
    stack: &'static str,
    dump: Option<&'static [u8]>,
    /// Its share of all faults, relative to the other weights.
    weight: u32,
    /// The part of the story in which it comes, from 0 to 1.
    span: (f64, f64),
}

const RIP: &str = "Rip Studio";
const WINDOWS: &str = "Windows 11 Pro 23H2 (10.0.22631)";

const FAULTS: [Fault; 9] = [
    Fault {
        application: RIP,
        os: WINDOWS,
        stack: include_str!("stacks/visual_studio.txt"),
        dump: Some(include_bytes!("files/access_violation.dmp")),
        weight: 10,
        span: (0.0, 1.0),
    },
    Fault {
        application: RIP,
        os: WINDOWS,
        stack: include_str!("stacks/madexcept.txt"),
        dump: None,
        weight: 6,
        span: (0.0, 0.6),
    },
    Fault {
        application: "Layout Tool",
        os: WINDOWS,
        stack: include_str!("stacks/dotnet.txt"),
        dump: None,
        weight: 5,
        span: (0.3, 1.0),
    },
    Fault {
        application: "Layout Tool",
        os: "macOS 15.5 (24F74)",
        stack: include_str!("stacks/macos.txt"),
        dump: None,
        weight: 3,
        span: (0.1, 0.9),
    },
    Fault {
        application: RIP,
        os: "Windows Server 2022 (10.0.20348)",
        stack: "Call stack not available: the stack overflowed (0xC00000FD)\n",
        dump: Some(include_bytes!("files/stack_overflow.dmp")),
        weight: 2,
        span: (0.5, 1.0),
    },
    Fault {
        application: "Queue Monitor",
        os: WINDOWS,
        stack: include_str!("stacks/java.txt"),
        dump: None,
        weight: 3,
        span: (0.0, 1.0),
    },
    Fault {
        application: "Colour Server",
        os: "Ubuntu 24.04.2 LTS",
        stack: include_str!("stacks/gdb.txt"),
        dump: None,
        weight: 2,
        span: (0.2, 0.8),
    },
    Fault {
        application: "Colour Server",
        os: "Ubuntu 24.04.2 LTS",
        stack: include_str!("stacks/python.txt"),
        dump: None,
        weight: 2,
        span: (0.85, 1.0),
    },
    Fault {
        application: "Colour Server",
        os: "Ubuntu 24.04.2 LTS",
        stack: include_str!("stacks/rust.txt"),
        dump: None,
        weight: 1,
        span: (0.6, 1.0),
    },
];

/// A crash report at a part of the story, from 0 to 1.
pub(super) fn report(rng: &mut Rng, progress: f64, version: &str) -> (AddCrashReport, Parts) {
    let possible: Vec<&Fault> =
        FAULTS.iter().filter(|fault| (fault.span.0..=fault.span.1).contains(&progress)).collect();
    let mut choice = rng.u32(..possible.iter().map(|fault| fault.weight).sum::<u32>().max(1));
    let mut fault = &FAULTS[0];
    for one in possible {
        fault = one;
        if choice < one.weight {
            break;
        }
        choice -= one.weight;
    }
    (AddCrashReport::new(Some(fault.application), Some(fault.os)), parts(rng, fault, version))
}

fn parts(rng: &mut Rng, fault: &Fault, version: &str) -> Parts {
    // Addresses and counts differ from report to report; the signature doesn't.
    let address = format!("{:08x}", rng.u32(0x1000_0000..));
    let stack = fault.stack.replace("@address", &address).replace("@n", &rng.u32(2..400).to_string());
    let xml = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<crash><application name=\"{}\" version=\"{version}\"/><system \
         os=\"{}\" memory=\"{} MB\" free=\"{} MB\"/><uptime>{} min</uptime></crash>\n",
        fault.application,
        fault.os,
        16_384,
        rng.u32(200..9_000),
        rng.u32(1..2_000),
    );
    let parts = Parts::default().with("CallStack", "callstack.txt", "text/plain", stack);
    let parts = parts.with("Xml", "report.xml", "application/xml", xml);
    match fault.dump {
        Some(dump) => parts.with("dump", "rip.dmp", "application/octet-stream", dump),
        None => parts,
    }
}
