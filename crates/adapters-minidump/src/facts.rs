//! Reads the facts of a dump.

use domain::minidump::{DumpFacts, DumpModule, DumpThread, MAX_MODULES, MAX_THREADS, Place};
use domain::text::{cut, storable};
use minidump::{
    Error, Minidump, MinidumpAnnotation, MinidumpAssertion, MinidumpCrashpadInfo, MinidumpException, MinidumpMiscInfo,
    MinidumpModuleList, MinidumpStream, MinidumpSystemInfo, MinidumpThreadList, MinidumpThreadNames,
    MinidumpUnloadedModuleList, Module,
};
use std::fmt::Display;

/// Limit for each text in characters; the rest is cut off.
const MAX_TEXT: usize = 500;

/// Limit for the annotations.
const MAX_ANNOTATIONS: usize = 1000;

type Dump<'a> = Minidump<'a, &'a [u8]>;

/// Reads the facts of a dump. A hostile dump may take any amount of memory and time: call this in a process with
/// limits.
///
/// # Errors
/// A sentence about why there are no facts.
pub fn facts(bytes: &[u8]) -> Result<DumpFacts, String> {
    let dump = Minidump::read(bytes).map_err(|error| sentence("it is no minidump or is damaged", &error))?;
    let mut facts = DumpFacts { written_at: Some(dump.header.time_date_stamp), ..DumpFacts::default() };
    let problems = &mut facts.problems;
    let system: Option<MinidumpSystemInfo> = stream(&dump, "the system", problems);
    let misc: Option<MinidumpMiscInfo> = stream(&dump, "the process", problems);
    let modules: Option<MinidumpModuleList> = stream(&dump, "modules", problems);
    let unloaded: Option<MinidumpUnloadedModuleList> = stream(&dump, "unloaded modules", problems);
    let threads: Option<MinidumpThreadList> = stream(&dump, "threads", problems);
    let names: Option<MinidumpThreadNames> = stream(&dump, "names of threads", problems);
    let exception: Option<MinidumpException> = stream(&dump, "the exception", problems);
    let crashpad: Option<MinidumpCrashpadInfo> = stream(&dump, "annotations", problems);
    let assertion: Option<MinidumpAssertion> = stream(&dump, "the assertion", problems);
    if let Some(system) = &system {
        facts.operating_system = Some(text(&system.os.long_name()));
        let (version, build) = system.os_parts();
        facts.operating_system_version =
            Some(text(&[Some(version), build].into_iter().flatten().collect::<Vec<_>>().join(" ")));
        facts.processor = Some(text(&system.cpu.to_string()));
    }
    let place = |address| place(modules.as_ref(), address);
    if let (Some(exception), Some(system)) = (&exception, &system) {
        facts.exception = Some(text(&exception.get_crash_reason(system.os, system.cpu).to_string()));
        facts.exception_address = Some(hex(exception.get_crash_address(system.os, system.cpu)));
        facts.crashed_thread = Some(exception.get_crashing_thread_id());
        let of_thread = || {
            let thread = threads.as_ref()?.get_thread(exception.get_crashing_thread_id())?;
            thread.context(system, misc.as_ref())
        };
        let context = exception.context(system, misc.as_ref()).or_else(of_thread);
        facts.place = context.map(|context| place(context.get_instruction_pointer()));
    }
    if let (Some(threads), Some(system)) = (&threads, &system) {
        let thread = |thread: &minidump::MinidumpThread| DumpThread {
            id: thread.raw.thread_id,
            name: names.as_ref().and_then(|names| names.get_name(thread.raw.thread_id)).map(|name| text(&name)),
            place: thread.context(system, misc.as_ref()).map(|context| place(context.get_instruction_pointer())),
        };
        facts.threads = threads.threads.iter().take(MAX_THREADS).map(thread).collect();
        left_out(threads.threads.len(), MAX_THREADS, "threads", &mut facts.problems);
    }
    if let Some(modules) = &modules {
        facts.modules = modules.iter().take(MAX_MODULES).map(module).collect();
        left_out(modules.iter().count(), MAX_MODULES, "modules", &mut facts.problems);
    }
    if let Some(unloaded) = &unloaded {
        facts.unloaded_modules = unloaded.iter().take(MAX_MODULES).map(module).collect();
        left_out(unloaded.iter().count(), MAX_MODULES, "unloaded modules", &mut facts.problems);
    }
    let mut annotations = crashpad.as_ref().map(crashpad_annotations).unwrap_or_default();
    annotations.extend(assertion.as_ref().map(assertion_annotations).unwrap_or_default());
    left_out(annotations.len(), MAX_ANNOTATIONS, "annotations", &mut facts.problems);
    annotations.truncate(MAX_ANNOTATIONS);
    facts.annotations = annotations;
    Ok(facts)
}

/// Reads a stream of the dump; `None` if the dump has none. If the stream can't be read, adds a sentence to `problems`.
fn stream<'a, S: MinidumpStream<'a>>(dump: &'a Dump<'a>, what: &str, problems: &mut Vec<String>) -> Option<S> {
    match dump.get_stream::<S>() {
        Ok(stream) => Some(stream),
        Err(Error::StreamNotFound) => None,
        Err(error) => {
            problems.push(sentence(&format!("{what} can't be read"), &error));
            None
        }
    }
}

fn sentence(what: &str, error: &Error) -> String {
    format!("{what}: {}", text(&error.to_string()))
}

fn left_out(count: usize, most: usize, what: &str, problems: &mut Vec<String>) {
    if count > most {
        problems.push(format!("{} more {what} are left out", count - most));
    }
}

fn place(modules: Option<&MinidumpModuleList>, address: u64) -> Place {
    let module = modules.and_then(|modules| modules.module_at_address(address));
    Place {
        module: module.map(|module| text(&module.code_file())),
        offset: module.and_then(|module| address.checked_sub(module.base_address())),
        address: hex(address),
    }
}

fn module(module: &impl Module) -> DumpModule {
    DumpModule {
        name: text(&module.code_file()),
        version: module.version().map(|version| text(&version)),
        debug_identifier: module.debug_identifier().map(|id| id.breakpad().to_string()),
        address: hex(module.base_address()),
        size: module.size(),
    }
}

fn crashpad_annotations(info: &MinidumpCrashpadInfo) -> Vec<(String, String)> {
    let simple = info.simple_annotations.iter();
    let of_modules = info.module_list.iter().flat_map(|module| {
        let objects = module.annotation_objects.iter().filter_map(|(name, value)| match value {
            MinidumpAnnotation::String(value) => Some((name, value)),
            _ => None,
        });
        module.simple_annotations.iter().chain(objects)
    });
    let lists = info.module_list.iter().flat_map(|module| &module.list_annotations);
    let named = simple.chain(of_modules).map(|(name, value)| (text(name), text(value)));
    named.chain(lists.map(|value| (String::new(), text(value)))).take(MAX_ANNOTATIONS + 1).collect()
}

fn assertion_annotations(assertion: &MinidumpAssertion) -> Vec<(String, String)> {
    let parts = [("assertion", assertion.expression()), ("function", assertion.function()), ("file", assertion.file())];
    let parts = parts.into_iter().filter_map(|(name, value)| Some((name.to_owned(), text(&value?))));
    parts.filter(|(_, value)| !value.is_empty()).collect()
}

fn text(text: &(impl Display + ?Sized)) -> String {
    cut(&storable(&text.to_string()), MAX_TEXT)
}

fn hex(address: u64) -> String {
    format!("0x{address:016x}")
}
