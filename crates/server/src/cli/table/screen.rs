//! What stdout is: a terminal with a width and colours, or something that only takes text.

use std::env;
use std::io::{IsTerminal, stdout};

/// Width of a terminal that doesn't tell its own.
const USUAL_WIDTH: usize = 80;

/// Where a command's answer is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) struct Screen {
    /// Columns of the terminal; `None` where it is none, and lines may have any length.
    pub(in crate::cli) width: Option<usize>,
    pub(in crate::cli) colours: bool,
}

impl Screen {
    pub(in crate::cli) fn of_stdout() -> Self {
        if !stdout().is_terminal() {
            return Self { width: None, colours: false };
        }
        let columns = rustix::termios::tcgetwinsize(stdout()).map_or(0, |size| usize::from(size.ws_col));
        let width = if columns == 0 { USUAL_WIDTH } else { columns };
        // See no-color.org.
        let unwanted = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let unable = env::var_os("TERM").is_none_or(|terminal| terminal == "dumb");
        Self { width: Some(width), colours: !unwanted && !unable }
    }
}

/// The colours that are used; terminals choose how these three look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum Tint {
    Red,
    Yellow,
    Green,
}

impl Tint {
    /// `text`, which is [visible](super::visible), in this colour.
    pub(in crate::cli) fn paint(self, text: &str) -> String {
        let code = match self {
            Self::Red => 31,
            Self::Green => 32,
            Self::Yellow => 33,
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}
