//! The name of a module, reduced.

/// Extensions of programs and libraries.
const EXTENSIONS: [&str; 11] =
    [".exe", ".dll", ".bpl", ".ocx", ".sys", ".drv", ".dylib", ".so", ".cpl", ".scr", ".pyd"];

/// Longest name that is kept, in bytes.
const MAX_NAME: usize = 100;

/// A name without folder, extension and version, in lower case: `/lib/libc.so.6` is `libc`. `None` for what is no name.
pub(super) fn reduce(module: &str) -> Option<String> {
    let name = module.trim().trim_matches(['"', '\'']);
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default().trim();
    let mut name = name.to_ascii_lowercase();
    if let Some(extension) = name.find(".so.") {
        name.truncate(extension);
    }
    if let Some(extension) = EXTENSIONS.iter().find(|extension| name.ends_with(*extension)) {
        name.truncate(name.len() - extension.len());
    }
    // libc-2.31 of an older glibc, foo.1.2 of macOS.
    let unversioned = name.trim_end_matches(|character: char| character.is_ascii_digit() || character == '.');
    let kept = match unversioned.strip_suffix('-') {
        Some(kept) => kept.len(),
        None if unversioned.len() < name.len() && name[unversioned.len()..].starts_with('.') => unversioned.len(),
        None => name.len(),
    };
    name.truncate(kept);
    let name: String = name.chars().filter(|character| !character.is_control()).collect();
    let end = name.char_indices().map(|(start, _)| start).find(|start| *start >= MAX_NAME).unwrap_or(name.len());
    let name = &name[..end];
    let is_name = name.contains(char::is_alphabetic) && !is_address(name) && !name.starts_with('<');
    is_name.then(|| without_numbers(name))
}

/// Whether a module's name ends as those of programs and libraries do.
pub(super) fn has_extension(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    EXTENSIONS.iter().any(|extension| name.ends_with(extension)) || name.contains(".so.")
}

fn is_address(name: &str) -> bool {
    name.strip_prefix("0x").is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// A text whose GUIDs and other long hexadecimal numbers are replaced: they differ from crash to crash.
pub(super) fn without_numbers(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|character: char| !character.is_alphanumeric()).unwrap_or(rest.len());
        let (word, following) = rest.split_at(end);
        let is_number = word.len() >= 8
            && word.bytes().all(|byte| byte.is_ascii_hexdigit())
            && word.bytes().any(|byte| byte.is_ascii_digit());
        kept.push_str(if is_number { "#" } else { word });
        let mut characters = following.chars();
        kept.extend(characters.next());
        rest = characters.as_str();
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decision I4.
    #[test]
    fn modules_lose_folder_extension_and_version() {
        for (module, reduced) in [
            ("Rip.exe", Some("rip")),
            (r"C:\Program Files\Acme\RipCore.dll", Some("ripcore")),
            ("/usr/lib/x86_64-linux-gnu/libc.so.6", Some("libc")),
            ("/lib/libc-2.31.so", Some("libc")),
            ("libQt6Core.so.6.5.1", Some("libqt6core")),
            ("com.acme.rip", Some("com.acme.rip")),
            ("libsystem_kernel.dylib", Some("libsystem_kernel")),
            ("Qt5Core", Some("qt5core")),
            ("a1b2c3d4-0000-4000-8000-00112233aabb.dll", Some("#-0000-4000-8000-#")),
            ("???", None),
            ("<unknown>", None),
            ("0x7fff2034", None),
            ("", None),
        ] {
            assert_eq!(reduce(module).as_deref(), reduced, "{module}");
        }
    }
}
