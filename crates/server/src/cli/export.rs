//! Saves content to files: complete or not at all, over an existing file only with `--force`, and never outside the
//! folder that was named.

use super::output::Out;
use super::table::escape;
use anyhow::{Context, Result, bail};
use domain::blob::ByteStream;
use domain::checksum::{ContentHasher, Sha1Checksum};
use domain::file_name::{extension_of, safe_file_name};
use domain::text::Folded;
use futures_util::TryStreamExt;
use std::collections::HashSet;
use std::fs::{self, Permissions};
use std::io::{ErrorKind, IsTerminal, Write, stdout};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::Builder;

/// The reason why a file isn't written.
const EXISTS: &str = "is there already; --force overwrites it";

/// The destination of a content.
#[derive(Debug)]
pub(super) enum Destination {
    Stdout,
    File(NewFile),
}

/// The path of a file that doesn't exist yet, or may be overwritten.
#[derive(Debug)]
pub(super) struct NewFile {
    path: PathBuf,
    force: bool,
}

/// A folder for files whose names come from clients.
#[derive(Debug)]
pub(super) struct Folder {
    pub(super) path: PathBuf,
    pub(super) force: bool,
}

impl Folder {
    /// The file of a [safe](FileNames) name in this folder.
    pub(super) fn file(&self, name: &str) -> Result<NewFile> {
        NewFile::new(self.path.join(name), self.force)
    }
}

impl Destination {
    /// The target that an operator named: `-`, a folder, or else a file. In a folder the file has the name of the content.
    pub(super) fn of(target: &Path, name: &str, force: bool) -> Result<Self> {
        if target == Path::new("-") {
            if stdout().is_terminal() {
                bail!("stdout is a terminal, which is nothing for content; name a file");
            }
            return Ok(Self::Stdout);
        }
        let is_folder = target.is_dir() || target.as_os_str().as_encoded_bytes().ends_with(b"/");
        let file = if is_folder {
            Folder { path: target.to_owned(), force }.file(&FileNames::default().take(name))
        } else {
            NewFile::new(target.to_owned(), force)
        };
        Ok(Self::File(file?))
    }

    /// Saves a content, whose checksum must be this one, and prints its path. A file appears when it is complete.
    pub(super) async fn save(&self, content: ByteStream, expected: Sha1Checksum, out: &mut Out<'_>) -> Result<()> {
        match self {
            Self::Stdout => pass(content, expected, |bytes| out.bytes(bytes)).await,
            Self::File(file) => {
                let saved = file.save(content, expected).await;
                saved.with_context(|| format!("cannot write {}", file.path.display()))?;
                out.line(&escape(&file.path.display().to_string()))
            }
        }
    }
}

impl NewFile {
    fn new(path: PathBuf, force: bool) -> Result<Self> {
        match fs::symlink_metadata(&path) {
            Ok(found) if found.is_dir() => bail!("{} is a folder", path.display()),
            Ok(_) if !force => bail!("{} {EXISTS}", path.display()),
            _ => Ok(Self { path, force }),
        }
    }

    async fn save(&self, content: ByteStream, expected: Sha1Checksum) -> Result<()> {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
        // The umask applies, as to any new file.
        let mut file =
            Builder::new().prefix(".platen-").permissions(Permissions::from_mode(0o666)).tempfile_in(folder)?;
        pass(content, expected, |bytes| Ok(file.write_all(bytes)?)).await?;
        file.as_file().sync_all()?;
        let published = if self.force { file.persist(&self.path) } else { file.persist_noclobber(&self.path) };
        match published {
            Err(failed) if failed.error.kind() == ErrorKind::AlreadyExists => bail!("it {EXISTS}"),
            published => Ok(published.map(drop)?),
        }
    }
}

/// Passes each chunk of a content to `take` and checks the checksum at the end.
async fn pass(
    mut content: ByteStream,
    expected: Sha1Checksum,
    mut take: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let mut hasher = ContentHasher::new();
    while let Some(bytes) = content.try_next().await? {
        hasher.update(&bytes);
        take(&bytes)?;
    }
    let found = hasher.finish();
    if found != expected {
        bail!("the content is damaged: its SHA1 is {found}, stored is {expected}");
    }
    Ok(())
}

/// Chooses unique names for the files of one folder, also for file systems without case.
#[derive(Default)]
pub(super) struct FileNames(HashSet<Folded>);

impl FileNames {
    /// A safe name that no other file has: `wanted`, else with a number.
    pub(super) fn take(&mut self, wanted: &str) -> String {
        let wanted = safe_file_name(wanted);
        let (stem, extension) = wanted.split_at(extension_of(&wanted));
        let mut name = wanted.clone();
        let mut number = 2;
        while !self.0.insert(Folded::of(&name)) {
            name = format!("{stem}-{number}{extension}");
            number += 1;
        }
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::table::Screen;
    use domain::error::StoreError;
    use futures_util::stream::{self, StreamExt};

    fn content(bytes: &[u8]) -> (ByteStream, Sha1Checksum) {
        let chunks: Vec<_> = bytes.chunks(3).map(|chunk| Ok::<_, StoreError>(chunk.to_vec().into())).collect();
        (stream::iter(chunks).boxed(), Sha1Checksum::of(bytes))
    }

    async fn saved(destination: &Destination, bytes: &[u8]) -> Result<()> {
        let (content, checksum) = content(bytes);
        destination.save(content, checksum, &mut Out::new(&mut Vec::new(), Screen::PIPE)).await
    }

    fn files(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    }

    #[test]
    fn names_of_one_folder_differ_without_case() {
        let mut names = FileNames::default();
        let taken: Vec<_> =
            ["dump.dmp", "Dump.DMP", "dump.dmp", "dump", "dump-2.dmp"].map(|wanted| names.take(wanted)).into();
        assert_eq!(taken, ["dump.dmp", "Dump-2.DMP", "dump-3.dmp", "dump", "dump-2-2.dmp"]);
    }

    #[tokio::test]
    async fn a_file_is_saved_under_its_name_or_the_one_that_is_given() {
        let folder = tempfile::tempdir().unwrap();
        let at = |target: PathBuf| Destination::of(&target, "../Label", false).unwrap();
        saved(&at(folder.path().to_owned()), b"content").await.unwrap();
        saved(&at(folder.path().join("file")), b"content").await.unwrap();
        saved(&at(folder.path().join("new/folder/")), b"content").await.unwrap();
        assert_eq!(files(folder.path()), ["_.._Label", "file", "new"]);
        assert_eq!(files(&folder.path().join("new/folder")), ["_.._Label"]);
        assert_eq!(fs::read(folder.path().join("file")).unwrap(), b"content");
    }

    #[tokio::test]
    async fn nothing_is_overwritten_unless_that_is_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let late = Destination::of(&path, "", false).unwrap();
        fs::write(&path, "former").unwrap();
        let message = Destination::of(&path, "", false).unwrap_err().to_string();
        assert!(message.ends_with("file is there already; --force overwrites it"), "{message}");
        // It came after it was looked for.
        let message = format!("{:#}", saved(&late, b"new").await.unwrap_err());
        assert!(message.ends_with("it is there already; --force overwrites it"), "{message}");
        assert_eq!(fs::read(&path).unwrap(), b"former");
        saved(&Destination::of(&path, "", true).unwrap(), b"new").await.unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(files(folder.path()), ["file"]);
        fs::create_dir(folder.path().join("Label")).unwrap();
        assert!(Destination::of(folder.path(), "Label", true).unwrap_err().to_string().ends_with("is a folder"));
    }

    #[tokio::test]
    async fn damaged_content_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let destination = Destination::of(&folder.path().join("file"), "", false).unwrap();
        let other = Sha1Checksum::of(b"other");
        let message = destination
            .save(content(b"content").0, other, &mut Out::new(&mut Vec::new(), Screen::PIPE))
            .await
            .unwrap_err();
        assert!(format!("{message:#}").contains("the content is damaged: its SHA1 is 040F06FD"), "{message:#}");
        assert!(files(folder.path()).is_empty());
    }
}
