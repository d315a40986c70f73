//! Safe file names from names that clients sent.

use crate::text::is_control;

/// Limit of a file name in bytes: all file systems take 255, and callers may append a number.
const MAX_BYTES: usize = 200;

/// Names that Windows reserves for devices, with any extension.
const RESERVED_NAMES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];

/// Makes a safe file name from any text: without path separators and control characters, not a device of Windows, not
/// beginning with `.` or `-`, at most 201 bytes.
#[must_use]
pub fn safe_file_name(name_sent: &str) -> String {
    let is_unsafe = |character| is_control(character) || r#"/\:*?"<>|"#.contains(character);
    let name: String = name_sent.chars().map(|character| if is_unsafe(character) { '_' } else { character }).collect();
    let name = name.trim().trim_end_matches(['.', ' ']);
    let (stem, extension) = name.split_at(extension_of(name));
    let stem = &stem[..stem.floor_char_boundary(MAX_BYTES - extension.len())];
    let first = name.split('.').next().unwrap_or_default().trim_end().to_lowercase();
    let is_port = |port: &str| {
        let mut number = first.strip_prefix(port).unwrap_or_default().chars();
        number.next().is_some_and(|digit| matches!(digit, '0'..='9' | '¹' | '²' | '³')) && number.next().is_none()
    };
    let is_device = RESERVED_NAMES.contains(&first.as_str()) || ["com", "lpt"].into_iter().any(is_port);
    if name.is_empty() || name.starts_with(['.', '-']) || is_device {
        return format!("_{stem}{extension}");
    }
    format!("{stem}{extension}")
}

/// The byte index of the extension with its dot, if it has at most 16 bytes; else the length of the name.
#[must_use]
pub fn extension_of(name: &str) -> usize {
    name.rfind('.').filter(|index| *index > 0 && name.len() - index <= 16).unwrap_or(name.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::path::{Component, Path};

    #[test]
    fn a_name_never_leaves_its_folder() {
        for (name_sent, name) in [
            ("Label 1", "Label 1"),
            ("../../etc/passwd", "_.._.._etc_passwd"),
            ("/etc/passwd", "_etc_passwd"),
            ("C:\\Windows\\x.dll", "C__Windows_x.dll"),
            ("..", "_"),
            (".", "_"),
            ("", "_"),
            (" \t ", "_"),
            (".bashrc", "_.bashrc"),
            ("-rf", "_-rf"),
            ("con", "_con"),
            ("Nul.txt", "_Nul.txt"),
            ("COM1.log", "_COM1.log"),
            ("lpt¹", "_lpt¹"),
            ("company", "company"),
            ("com10", "com10"),
            ("a\0b\x1b[2J\u{202e}c", "a_b_[2J_c"),
            ("name. . ", "name"),
            ("Größe 日本.icc", "Größe 日本.icc"),
        ] {
            assert_eq!(safe_file_name(name_sent), name, "{name_sent:?}");
        }
        let long = safe_file_name(&format!("{}.icc", "ä".repeat(300)));
        assert!(long.len() <= MAX_BYTES && long.ends_with("ä.icc"), "{long}");
    }

    proptest! {
        #[test]
        fn any_name_is_made_safe_file_name(name_sent in "\\PC*|[./\\\\a-c \\-]{0,12}|.{0,300}") {
            let name = safe_file_name(&name_sent);
            prop_assert!(!name.is_empty() && name.len() <= MAX_BYTES + 1);
            let path = Path::new("folder").join(&name);
            prop_assert_eq!(path.parent(), Some(Path::new("folder")));
            let components: Vec<_> = Path::new(&name).components().collect();
            prop_assert!(matches!(components[..], [Component::Normal(_)]), "{}", name);
        }
    }
}
