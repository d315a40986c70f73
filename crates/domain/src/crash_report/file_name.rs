//! File names of the parts of crash reports.

use super::{CrashPart, PartRole};

/// The file name of a part: the last segment of the client's path, else a name by role. `number` is the number of the
/// part in its report, from 1. The name isn't safe yet: callers pass it to [`crate::file_name::safe_file_name`].
#[must_use]
pub fn file_name(number: usize, part: &CrashPart) -> String {
    // Some clients send the whole path on their computer.
    let sent = part.file_name.as_deref().and_then(|name| name.rsplit(['/', '\\']).next()).map(str::trim);
    if let Some(name) = sent.filter(|name| !name.is_empty()) {
        return name.to_owned();
    }
    match part.role {
        PartRole::CallStack => "CallStack.txt".to_owned(),
        PartRole::Xml => "report.xml".to_owned(),
        PartRole::Dump => "dump.dmp".to_owned(),
        PartRole::Attachment => format!("attachment-{number}.bin"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::a_crash_report;

    #[test]
    fn a_part_is_called_by_the_last_piece_of_its_name_or_by_its_role() {
        let wish = |name: Option<&str>, role: PartRole| {
            let part = a_crash_report(1).parts.remove(0);
            file_name(3, &CrashPart { file_name: name.map(str::to_owned), role, ..part })
        };
        for (sent, expected) in [("C:\\Users\\ann\\rip.dmp", "rip.dmp"), ("/etc/passwd", "passwd"), ("a/ ", "dump.dmp")]
        {
            assert_eq!(wish(Some(sent), PartRole::Dump), expected, "{sent:?}");
        }
        let roles = [PartRole::CallStack, PartRole::Xml, PartRole::Dump, PartRole::Attachment];
        let expected = ["CallStack.txt", "report.xml", "dump.dmp", "attachment-3.bin"];
        assert_eq!(roles.map(|role| wish(None, role)), expected);
    }
}
