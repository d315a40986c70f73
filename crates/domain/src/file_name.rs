//! File names from what clients sent.

use crate::text::is_control;

/// Bytes of a name that every file system takes, with some room for a number.
const LONGEST: usize = 200;

/// Names of devices on Windows, whatever extension follows.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];

/// A file name like `wish`, whatever that is: no path, no device, nothing hidden, nothing that a program takes for an
/// option, at most some 200 bytes.
#[must_use]
pub fn safe_file_name(wish: &str) -> String {
    let is_unsafe = |character| is_control(character) || r#"/\:*?"<>|"#.contains(character);
    let name: String = wish.chars().map(|character| if is_unsafe(character) { '_' } else { character }).collect();
    let name = name.trim().trim_end_matches(['.', ' ']);
    let (stem, extension) = name.split_at(extension_of(name));
    let stem = &stem[..stem.floor_char_boundary(LONGEST - extension.len())];
    let first = name.split('.').next().unwrap_or_default().trim_end().to_lowercase();
    let is_port = |port: &str| {
        let mut number = first.strip_prefix(port).unwrap_or_default().chars();
        number.next().is_some_and(|digit| matches!(digit, '0'..='9' | '¹' | '²' | '³')) && number.next().is_none()
    };
    let is_device = DEVICES.contains(&first.as_str()) || ["com", "lpt"].into_iter().any(is_port);
    if name.is_empty() || name.starts_with(['.', '-']) || is_device {
        return format!("_{stem}{extension}");
    }
    format!("{stem}{extension}")
}

/// Where the extension of a name begins, if it has a short one; else the end.
#[must_use]
pub fn extension_of(name: &str) -> usize {
    name.rfind('.').filter(|place| *place > 0 && name.len() - place <= 16).unwrap_or(name.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::path::{Component, Path};

    #[test]
    fn a_name_never_leaves_its_folder() {
        for (wish, name) in [
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
            assert_eq!(safe_file_name(wish), name, "{wish:?}");
        }
        let long = safe_file_name(&format!("{}.icc", "ä".repeat(300)));
        assert!(long.len() <= LONGEST && long.ends_with("ä.icc"), "{long}");
    }

    proptest! {
        #[test]
        fn any_name_is_made_safe_file_name(wish in "\\PC*|[./\\\\a-c \\-]{0,12}|.{0,300}") {
            let name = safe_file_name(&wish);
            prop_assert!(!name.is_empty() && name.len() <= LONGEST + 1);
            let path = Path::new("folder").join(&name);
            prop_assert_eq!(path.parent(), Some(Path::new("folder")));
            let components: Vec<_> = Path::new(&name).components().collect();
            prop_assert!(matches!(components[..], [Component::Normal(_)]), "{}", name);
        }
    }
}
