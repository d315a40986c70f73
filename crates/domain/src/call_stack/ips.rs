//! Crash reports of macOS 12 and later: a line of JSON about the report, then the report as JSON.

use super::model::MAX_FRAMES;
use super::{CallStack, Frame, Thread};
use serde::Deserialize;

/// Threads that are read at most.
const MAX_THREADS: usize = 1024;

#[derive(Deserialize)]
struct Report {
    threads: Vec<ReportThread>,
    #[serde(rename = "usedImages", default)]
    images: Vec<Image>,
    #[serde(default)]
    exception: Exception,
}

#[derive(Deserialize)]
struct ReportThread {
    #[serde(default)]
    triggered: bool,
    name: Option<String>,
    #[serde(default)]
    frames: Vec<ReportFrame>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReportFrame {
    symbol: Option<String>,
    image_index: Option<usize>,
    image_offset: Option<u64>,
}

#[derive(Deserialize)]
struct Image {
    name: Option<String>,
}

#[derive(Default, Deserialize)]
struct Exception {
    #[serde(rename = "type")]
    kind: Option<String>,
    signal: Option<String>,
}

/// `None` if the text isn't such a report.
pub(super) fn parse(text: &str) -> Option<CallStack> {
    let text = text.trim_start();
    if !text.starts_with('{') {
        return None;
    }
    let body = text.split_once('\n').map_or(text, |(_, body)| body);
    let report: Report = serde_json::from_str(body).or_else(|_| serde_json::from_str(text)).ok()?;
    let frame = |frame: &ReportFrame| {
        let module = frame.image_index.and_then(|index| report.images.get(index)?.name.as_deref());
        Frame::new(module, frame.symbol.as_deref(), frame.image_offset)
    };
    let thread = |thread: &ReportThread| Thread {
        name: thread.name.as_ref().map(|name| crate::text::cut(name, 80)),
        is_crashed: thread.triggered,
        frames: thread.frames.iter().take(MAX_FRAMES).filter_map(frame).collect(),
    };
    let threads = report.threads.iter().take(MAX_THREADS).map(thread).collect();
    let reason = report.exception.kind.or(report.exception.signal).map(|kind| crate::text::cut(&kind, 100));
    Some(CallStack { reason, threads, first_line: None })
}
