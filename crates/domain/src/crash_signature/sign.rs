//! Makes the signature of a call stack.

use super::rules::{self, Verdict};
use crate::call_stack::{CallStack, Frame};
use crate::text::cut;

/// The version of the rules. A signature of another version is computed anew on request only (decision I5).
pub const ALGORITHM: u32 = 1;

/// Longest signature, in characters (decision I4).
pub const MAX_SIGNATURE: usize = 255;

/// What separates the parts of a signature.
const SEPARATOR: &str = " | ";

/// What stands for a text that says nothing.
const EMPTY: &str = "empty call stack";

/// The signature of a report, and why it came out so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// At most [`MAX_SIGNATURE`] characters, never empty.
    pub text: String,
    pub basis: Basis,
    /// The type of the exception, the signal or the code.
    pub reason: Option<String>,
    /// The name of the thread that was looked at.
    pub thread: Option<String>,
    /// The frames that were read, the innermost first.
    pub frames: Vec<ExplainedFrame>,
}

/// What a signature was made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// Frames up to the first one of the program itself.
    Frames,
    /// Only frames of the system were found: module and reason.
    SystemFrames,
    /// The place where a minidump says that it happened; the text has no frame (decision I6).
    Minidump,
    /// The first line; there is no frame.
    FirstLine,
}

impl Basis {
    /// A word for people and JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Frames => "frames",
            Self::SystemFrames => "system_frames",
            Self::Minidump => "minidump",
            Self::FirstLine => "first_line",
        }
    }
}

/// A frame, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExplainedFrame {
    pub frame: Frame,
    pub role: FrameRole,
    /// The name of the rule by which it was skipped or is a prefix.
    pub rule: Option<&'static str>,
}

/// What a frame is in the signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameRole {
    /// It is left out.
    Skipped,
    /// It is part of the signature, which goes on with the next frame.
    Prefix,
    /// It is the last part of the signature.
    End,
    /// It comes after the end.
    Rest,
}

impl FrameRole {
    /// A word for people and JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Skipped => "skipped",
            Self::Prefix => "prefix",
            Self::End => "end",
            Self::Rest => "rest",
        }
    }
}

/// The place of a crash that a minidump names, and its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedFrame {
    pub reason: Option<String>,
    pub frame: Option<Frame>,
}

/// Makes the signature of a call stack; `dump` counts only where the text has no frame (decisions I4 and I6).
#[must_use]
pub fn sign(stack: &CallStack, dump: Option<&SignedFrame>) -> Signature {
    let thread = stack.crashed_thread();
    let frames = thread.map(|thread| explain(&thread.frames)).unwrap_or_default();
    let (parts, basis, reason) = if frames.is_empty() {
        if let Some((frame, reason)) = dump.and_then(|dump| dump.frame.as_ref().map(|frame| (frame, &dump.reason))) {
            (vec![frame.to_string()], Basis::Minidump, reason.clone())
        } else {
            let line = stack.first_line.clone().unwrap_or_else(|| EMPTY.to_owned());
            (vec![line], Basis::FirstLine, None)
        }
    } else if frames.iter().any(|frame| frame.role == FrameRole::End) {
        let is_part = |frame: &&ExplainedFrame| matches!(frame.role, FrameRole::Prefix | FrameRole::End);
        let parts = frames.iter().filter(is_part).map(|frame| frame.frame.to_string()).collect();
        (parts, Basis::Frames, stack.reason.clone())
    } else {
        (vec![system_place(&frames)], Basis::SystemFrames, stack.reason.clone())
    };
    let parts: Vec<String> = reason.iter().cloned().chain(parts).collect();
    let text = cut(&crate::text::storable(&parts.join(SEPARATOR)), MAX_SIGNATURE);
    Signature { text, basis, reason, thread: thread.and_then(|thread| thread.name.clone()), frames }
}

/// Judges frames from the innermost one outwards.
fn explain(frames: &[Frame]) -> Vec<ExplainedFrame> {
    let handler = frames.iter().rposition(rules::is_dispatcher);
    let mut has_ended = false;
    let explained = frames.iter().enumerate().map(|(index, frame)| {
        let (role, reason) = if has_ended {
            (FrameRole::Rest, None)
        } else if handler.is_some_and(|handler| index < handler) {
            (FrameRole::Skipped, Some("above the exception dispatch"))
        } else {
            match rules::judge(frame) {
                Some((Verdict::Skipped, rule)) => (FrameRole::Skipped, Some(rule)),
                Some((Verdict::Prefix, rule)) => (FrameRole::Prefix, Some(rule)),
                None => (FrameRole::End, None),
            }
        };
        has_ended |= role == FrameRole::End;
        ExplainedFrame { frame: frame.clone(), role, rule: reason }
    });
    explained.collect()
}

/// The module of the innermost frame that has one, else its function.
fn system_place(frames: &[ExplainedFrame]) -> String {
    let all = || frames.iter().map(|frame| &frame.frame);
    let module = all().find_map(|frame| frame.module.clone());
    module.or_else(|| all().find_map(|frame| frame.function.clone())).unwrap_or_default()
}
