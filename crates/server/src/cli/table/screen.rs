//! What stdout is: a terminal with a width and colors, or a file or pipe.

use std::env;
use std::io::{IsTerminal, stdout};

/// Width of a terminal whose own is not known.
const USUAL_WIDTH: u16 = 80;

/// Where a command's answer is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) struct Screen {
    /// Columns of the terminal; `None` for a file or pipe, where lines may have any length.
    pub(in crate::cli) width: Option<u16>,
    pub(in crate::cli) colors: bool,
}

impl Screen {
    /// A file or pipe.
    pub(in crate::cli) const PIPE: Self = Self { width: None, colors: false };

    pub(in crate::cli) fn of_stdout() -> Self {
        if !stdout().is_terminal() {
            return Self::PIPE;
        }
        let columns = rustix::termios::tcgetwinsize(stdout()).map_or(0, |size| size.ws_col);
        let width = if columns == 0 { USUAL_WIDTH } else { columns };
        // See no-color.org.
        let unwanted = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let unable = env::var_os("TERM").is_none_or(|terminal| terminal == "dumb");
        Self { width: Some(width), colors: !unwanted && !unable }
    }
}
