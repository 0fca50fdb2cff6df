//! Where the file is: made owner-only, looked at without touching, and left alone if it is a newer program's.

use std::fs::{DirBuilder, File, FileType, OpenOptions};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use crate::fault::OpenFault;
use crate::format::{APPLICATION_ID, FORMAT};

/// What the first 100 bytes of a file say. Read with plain I/O: SQLite would make files beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Header {
    /// No file, or an empty one.
    Absent,
    /// A ledger whose major is this.
    Ledger { major: u32 },
    /// SQLite, and not (or not yet) marked as a ledger.
    OtherSqlite,
    /// Something else.
    NotSqlite,
}

/// Looks at the file's header. Byte offsets: <https://www.sqlite.org/fileformat2.html#the_database_header>.
pub(crate) fn header(place: &Path) -> Result<Header, OpenFault> {
    let unusable = |source| OpenFault::Place {
        place: place.to_owned(),
        source,
    };
    // Before it is opened: a pipe would wait for a writer, and SQLite would leave a journal beside a device.
    match std::fs::metadata(place) {
        Ok(metadata) if metadata.is_file() => {}
        Ok(metadata) => {
            return Err(OpenFault::NotAFile {
                place: place.to_owned(),
                found: kind_of(metadata.file_type()),
            });
        }
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Header::Absent),
        Err(error) => return Err(unusable(error)),
    }
    let file = match File::open(place) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Header::Absent),
        Err(error) => return Err(unusable(error)),
    };
    let mut bytes = Vec::with_capacity(100);
    file.take(100).read_to_end(&mut bytes).map_err(unusable)?;
    if bytes.is_empty() {
        return Ok(Header::Absent);
    }
    if !bytes.starts_with(b"SQLite format 3\0") {
        return Ok(Header::NotSqlite);
    }
    let number = |at: usize| {
        let four: Option<[u8; 4]> = bytes.get(at..at + 4).and_then(|four| four.try_into().ok());
        four.map(u32::from_be_bytes)
    };
    match (number(60), number(68)) {
        (Some(major), Some(APPLICATION_ID)) => Ok(Header::Ledger { major }),
        _ => Ok(Header::OtherSqlite),
    }
}

/// What something that is no regular file is.
fn kind_of(kind: FileType) -> &'static str {
    if kind.is_dir() {
        return "a folder";
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        if kind.is_char_device() || kind.is_block_device() {
            return "a device";
        }
        if kind.is_fifo() {
            return "a pipe";
        }
        if kind.is_socket() {
            return "a socket";
        }
    }
    "something that is no file"
}

/// Whether a ledger of this major may not be written by this program.
pub(crate) const fn is_newer(major: u32) -> bool {
    major > FORMAT.major
}

/// The file that this program uses where `place` belongs to a newer one: `ledger.db` gives `ledger.db.v1`.
pub(crate) fn beside_newer(place: &Path) -> PathBuf {
    with_suffix(place, &format!(".v{}", FORMAT.major))
}

/// The folder of the liveness locks that belong to the existing file `place`.
///
/// Beside the real file: two programs that reach it through different links must find each other's locks, or one
/// would judge the other's running calls as lost.
pub(crate) fn instances(place: &Path) -> PathBuf {
    let real = place.canonicalize().unwrap_or_else(|_| place.to_owned());
    with_suffix(&real, ".instances")
}

/// SQLite's write-ahead log of the file `place`.
pub(crate) fn log_of(place: &Path) -> PathBuf {
    with_suffix(place, "-wal")
}

/// The place independent of the working folder, which may change.
pub(crate) fn absolute(place: &Path) -> Result<PathBuf, OpenFault> {
    std::path::absolute(place).map_err(|source| OpenFault::Place {
        place: place.to_owned(),
        source,
    })
}

/// Which file a name stands for at the moment. On Unix the name may later stand for another, or for none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    #[cfg(unix)]
    device_and_inode: (u64, u64),
}

impl Identity {
    pub(crate) fn at(place: &Path) -> std::io::Result<Self> {
        let metadata = std::fs::metadata(place)?;
        Ok(Self::of(&metadata))
    }

    #[cfg(unix)]
    pub(crate) fn of(metadata: &std::fs::Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        Self {
            device_and_inode: (metadata.dev(), metadata.ino()),
        }
    }

    #[cfg(not(unix))]
    pub(crate) fn of(_: &std::fs::Metadata) -> Self {
        Self {}
    }
}

fn with_suffix(place: &Path, suffix: &str) -> PathBuf {
    let mut name = place.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Makes the folder (0700) and the file (0600) if they are missing. What is there keeps its mode.
pub(crate) fn prepare(place: &Path) -> Result<(), OpenFault> {
    if let Some(folder) = place.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        make_folder(folder)?;
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    owner_only(&mut options);
    match options.open(place) {
        Ok(_) => sync_folder_of(place),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(source) => Err(OpenFault::Place {
            place: place.to_owned(),
            source,
        }),
    }
}

/// Makes a folder that only its owner can enter, with those above it.
pub(crate) fn make_folder(folder: &Path) -> Result<(), OpenFault> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(|source| OpenFault::Place {
        place: folder.to_owned(),
        source,
    })
}

/// Makes a file that these options create readable for its owner alone.
pub(crate) fn owner_only(options: &mut OpenOptions) {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    #[cfg(not(unix))]
    let _ = options;
}

/// A new file's name is on disk only when its folder is synced: without this a power cut could take the whole
/// ledger with every receipt that was given.
fn sync_folder_of(place: &Path) -> Result<(), OpenFault> {
    #[cfg(unix)]
    {
        let folder = match place.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        File::open(folder)
            .and_then(|folder| folder.sync_all())
            .map_err(|source| OpenFault::Place {
                place: folder.to_owned(),
                source,
            })?;
    }
    #[cfg(not(unix))]
    let _ = place;
    Ok(())
}
