//! A crash report: its stack, XML, minidump, parts, and what its computer logged before.

use crate::layout::{Layout, page};
use crate::link::link;
use crate::xml::formatted;
use actix_web::http::StatusCode;
use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use domain::crash_analysis::DumpAnalysis;
use domain::crash_group::CrashGroupId;
use domain::crash_report::{
    CrashPart, CrashReportReader, LOG_BEFORE, LogBefore, Os, PartRole, PartText, ReadCallStack, StoredCrashReport,
    file_name,
};
use domain::crash_signature::{Basis, ExplainedFrame, FrameRole, Signature};
use domain::minidump::{DumpFacts, Place};
use domain::text::cut;
use domain::timestamp::Timestamp;
use operator_actix::authenticate::Caller;
use operator_actix::crash_reports::{download_part, report_id};
use operator_actix::error::Problem;

/// Characters of a call stack or an XML that the page shows.
const MAX_TEXT: usize = 100_000;

/// Modules and threads of a minidump that the page shows; the dump itself has all.
const MAX_ROWS: usize = 300;

#[derive(Template)]
#[template(path = "crash_report.html")]
struct ReportPage {
    layout: Layout,
    organization: String,
    report: StoredCrashReport,
    system: &'static str,
    group: Option<CrashGroupId>,
    /// The signature; empty if there is none.
    signature: String,
    /// Why there is none; empty if there is one.
    unsigned: String,
    /// How the signature came about; `None` without a call stack.
    explained: Option<Explained>,
    /// The call stack as it was sent; `None` if there is none, or its content is gone.
    stack: Option<ShownText>,
    /// Whether only the text of the stack shows what happened.
    is_bare: bool,
    xml: Option<ShownText>,
    dump: Option<ShownDump>,
    parts: Vec<ShownPart>,
    log: LogBefore,
    /// The same entries on the page of the log.
    log_link: String,
}

/// How a signature came about.
struct Explained {
    /// A sentence about what it is made of.
    basis: &'static str,
    /// Empty if it isn't known.
    reason: String,
    thread: String,
    frames: Vec<ShownFrame>,
}

impl Explained {
    fn of(signature: &Signature) -> Self {
        Self {
            basis: basis(signature),
            reason: signature.reason.clone().unwrap_or_default(),
            thread: signature.thread.clone().unwrap_or_default(),
            frames: signature.frames.iter().map(ShownFrame::of).collect(),
        }
    }
}

/// A frame, and what became of it.
struct ShownFrame {
    frame: String,
    /// In words.
    role: String,
    /// Whether it belongs to the signature.
    is_signed: bool,
}

impl ShownFrame {
    fn of(frame: &ExplainedFrame) -> Self {
        Self {
            frame: frame.frame.to_string(),
            role: role(frame),
            is_signed: matches!(frame.role, FrameRole::Prefix | FrameRole::End),
        }
    }
}

/// A text of a part.
struct ShownText {
    text: String,
    /// Whether there is more of it in the part.
    is_cut: bool,
}

impl ShownText {
    fn of(text: &PartText) -> Self {
        let shown = cut(&text.text, MAX_TEXT);
        Self { is_cut: text.is_cut || shown.len() < text.text.len(), text: shown }
    }

    /// With one element a line, if that can be done.
    fn of_xml(text: PartText) -> Self {
        let is_whole = !text.is_cut;
        let lines = is_whole.then(|| formatted(&text.text)).flatten();
        Self::of(&PartText { text: lines.unwrap_or(text.text), ..text })
    }
}

/// A minidump.
struct ShownDump {
    reader: String,
    /// Why it can't be read; empty if it can.
    failure: String,
    facts: DumpFacts,
    written: Option<Timestamp>,
    /// Where it happened; empty if it isn't known.
    place: String,
    threads: Vec<ShownThread>,
    more_modules: usize,
    more_threads: usize,
}

impl ShownDump {
    fn of(DumpAnalysis { reader, facts }: DumpAnalysis) -> Self {
        let (mut facts, failure) = match facts {
            Ok(facts) => (facts, String::new()),
            Err(failure) => (DumpFacts::default(), failure),
        };
        let (more_modules, more_threads) =
            (facts.modules.len().saturating_sub(MAX_ROWS), facts.threads.len().saturating_sub(MAX_ROWS));
        facts.modules.truncate(MAX_ROWS);
        let threads = facts.threads.drain(..).take(MAX_ROWS).map(|thread| ShownThread {
            id: thread.id,
            name: thread.name.unwrap_or_default(),
            place: thread.place.as_ref().map(place).unwrap_or_default(),
        });
        let threads = threads.collect();
        facts.unloaded_modules.truncate(MAX_ROWS);
        facts.annotations.truncate(MAX_ROWS);
        let written = facts.written_at.map(|seconds| Timestamp::from_micros(i64::from(seconds) * 1_000_000));
        let at = facts.place.as_ref().map(place).unwrap_or_default();
        Self { reader, failure, facts, written, place: at, threads, more_modules, more_threads }
    }
}

/// A thread of a minidump.
struct ShownThread {
    id: u32,
    name: String,
    place: String,
}

/// A part to download.
struct ShownPart {
    number: usize,
    file_name: String,
    part: CrashPart,
}

/// `GET /console/crash-reports/{id}`
pub(crate) async fn show(
    request: HttpRequest,
    caller: Caller,
    id: Path<String>,
    reports: Data<CrashReportReader>,
) -> Result<HttpResponse, Problem> {
    let found = reports.find(&caller.actor, report_id(&id)?).await?;
    let xml = reports.text(&found.report, PartRole::Xml).await?;
    let log = reports.log_before(&found).await?;
    let (group, signature, dump) = match found.analyzed {
        None => (None, Err("It isn't analyzed yet; that takes a minute at most".to_owned()), None),
        Some(analyzed) => (analyzed.group, analyzed.analysis.signature, analyzed.analysis.dump),
    };
    let (stack, explained) = match found.call_stack {
        None => (None, None),
        Some(ReadCallStack { text, signature }) => (Some(ShownText::of(&text)), Some(Explained::of(&signature))),
    };
    let part = |(number, part): (usize, CrashPart)| ShownPart { number, file_name: file_name(number, &part), part };
    let layout = Layout::signed_in(&request, "Crash report", "crashes", &caller.signed_in);
    let shown = ReportPage {
        log_link: log_link(&layout.root, &found.report),
        layout,
        organization: found.organization,
        system: Os::parse(found.report.os.as_deref()).as_str(),
        group,
        unsigned: signature.as_ref().err().cloned().unwrap_or_default(),
        signature: signature.unwrap_or_default(),
        is_bare: explained.as_ref().is_none_or(|explained| explained.frames.is_empty()),
        explained,
        stack,
        xml: xml.map(ShownText::of_xml),
        dump: dump.map(ShownDump::of),
        parts: (1..).zip(found.report.parts.clone()).map(part).collect(),
        report: found.report,
        log,
    };
    Ok(page(StatusCode::OK, &shown))
}

/// `GET /console/crash-reports/{id}/parts/{number}`
pub(crate) async fn part(
    caller: Caller,
    path: Path<(String, String)>,
    reports: Data<CrashReportReader>,
) -> Result<HttpResponse, Problem> {
    download_part(&caller, &path.0, &path.1, &reports).await
}

/// The log of the computer of a report in the time before it.
fn log_link(root: &str, report: &StoredCrashReport) -> String {
    let computer = report.computer.map(|computer| computer.to_string()).unwrap_or_default();
    let (from, to) = (report.received.minus(LOG_BEFORE).precise(), report.received.precise());
    link(&format!("{root}/logs"), &[("computer_guid", &computer), ("from", &from), ("to", &to)])
}

/// What a signature is made of, in a sentence.
fn basis(signature: &Signature) -> &'static str {
    match signature.basis {
        Basis::Frames => "The marked frames make the signature.",
        Basis::SystemFrames => "All frames are of the system: the signature is their module and the reason.",
        Basis::Minidump => "The text has no frame: the signature is the place that the minidump names.",
        Basis::FirstLine => "The text has no frame: the signature is its first line, numbers replaced.",
    }
}

/// What became of a frame, in words.
fn role(frame: &ExplainedFrame) -> String {
    match (frame.role, frame.rule) {
        (FrameRole::Skipped, rule) => format!("skipped: {}", rule.unwrap_or("a rule")),
        (FrameRole::Prefix, rule) => format!("in the signature, which goes on: {}", rule.unwrap_or("a rule")),
        (FrameRole::End, _) => "in the signature, its end".to_owned(),
        (FrameRole::Rest, _) => String::new(),
    }
}

/// `Rip.exe+0x1a2b`, or the address alone.
fn place(place: &Place) -> String {
    match (&place.module, place.offset) {
        (Some(module), Some(offset)) => format!("{module}+0x{offset:x}"),
        _ => place.address.clone(),
    }
}
