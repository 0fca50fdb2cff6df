//! Our own stdin and stdout, towards the host that started us.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;
use std::path::PathBuf;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

use crate::reader::FrameReader;
use crate::sink::FrameSink;

/// The two pipes between us and the host.
#[derive(Debug)]
pub struct OwnPipes {
    /// What the host says.
    pub input: FrameReader<OwnInput>,
    /// What the host is told. A host that is gone shows in [`FrameSink::closed`] at the next write.
    ///
    /// To close it does not close the stdout of this process, of which it has a copy: the host sees the end
    /// when the process ends.
    pub output: FrameSink,
}

/// Takes our stdin and stdout. `limit` and `high_water` as in [`FrameReader::new`] and [`FrameSink::spawn`].
///
/// Pipes and sockets are used without a thread between. Anything else (a file, a terminal, `/dev/null`; on macOS
/// pipes too) goes through Tokio's blocking threads. A read of a terminal can't be called back there, so end the
/// process with [`std::process::exit`] or shut the runtime down in the background.
///
/// Nothing else in the process may read stdin or write to stdout. Call it once, within a Tokio runtime that has
/// I/O enabled.
///
/// # Errors
///
/// What the operating system said when a descriptor was copied or registered.
pub fn own_pipes(limit: usize, high_water: usize) -> io::Result<OwnPipes> {
    let input = OwnInput::of(io::stdin().as_fd())?;
    let output = OwnOutput::of(io::stdout().as_fd())?;
    Ok(OwnPipes {
        input: FrameReader::new(input, limit),
        output: FrameSink::spawn(output, high_water),
    })
}

/// Our stdin, as what it turned out to be.
#[derive(Debug)]
pub struct OwnInput(Input);

#[derive(Debug)]
enum Input {
    Pipe(pipe::Receiver),
    Socket(UnixStream),
    Other(tokio::fs::File),
}

/// Our stdout, as what it turned out to be.
#[derive(Debug)]
pub(crate) struct OwnOutput(Output);

#[derive(Debug)]
enum Output {
    Pipe(pipe::Sender),
    Socket(UnixStream),
    Other(tokio::fs::File),
}

impl OwnInput {
    fn of(fd: BorrowedFd<'_>) -> io::Result<Self> {
        let copy = File::from(fd.try_clone_to_owned()?);
        let kind = copy.metadata()?.file_type();
        if kind.is_fifo()
            && let Ok(receiver) = pipe::OpenOptions::new().open_receiver(opened_anew(fd))
        {
            return Ok(Self(Input::Pipe(receiver)));
        }
        if kind.is_socket() {
            return Ok(Self(Input::Socket(socket(copy.into())?)));
        }
        Ok(Self(Input::Other(tokio::fs::File::from_std(copy))))
    }
}

impl OwnOutput {
    fn of(fd: BorrowedFd<'_>) -> io::Result<Self> {
        let copy = File::from(fd.try_clone_to_owned()?);
        let kind = copy.metadata()?.file_type();
        // Fails too where no reader is left; the blocking way then meets the broken pipe at its first write.
        if kind.is_fifo()
            && let Ok(sender) = pipe::OpenOptions::new().open_sender(opened_anew(fd))
        {
            return Ok(Self(Output::Pipe(sender)));
        }
        if kind.is_socket() {
            return Ok(Self(Output::Socket(socket(copy.into())?)));
        }
        Ok(Self(Output::Other(tokio::fs::File::from_std(copy))))
    }
}

/// Where Linux lets a pipe be opened once more. A copy of the descriptor would share its flags with every process
/// that holds the pipe, and non-blocking mode breaks those that do not expect it.
fn opened_anew(fd: BorrowedFd<'_>) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", fd.as_raw_fd()))
}

/// A socket can't be opened anew, so its flags are shared; hosts that give sockets give one to each process.
fn socket(fd: OwnedFd) -> io::Result<UnixStream> {
    let socket = std::os::unix::net::UnixStream::from(fd);
    socket.set_nonblocking(true)?;
    UnixStream::from_std(socket)
}

impl AsyncRead for OwnInput {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().0 {
            Input::Pipe(pipe) => Pin::new(pipe).poll_read(cx, buf),
            Input::Socket(socket) => Pin::new(socket).poll_read(cx, buf),
            Input::Other(file) => Pin::new(file).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for OwnOutput {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        match &mut self.get_mut().0 {
            Output::Pipe(pipe) => Pin::new(pipe).poll_write(cx, buf),
            Output::Socket(socket) => Pin::new(socket).poll_write(cx, buf),
            Output::Other(file) => Pin::new(file).poll_write(cx, buf),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match &mut self.get_mut().0 {
            Output::Pipe(pipe) => Pin::new(pipe).poll_write_vectored(cx, bufs),
            Output::Socket(socket) => Pin::new(socket).poll_write_vectored(cx, bufs),
            Output::Other(file) => Pin::new(file).poll_write_vectored(cx, bufs),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match &self.0 {
            Output::Pipe(pipe) => pipe.is_write_vectored(),
            Output::Socket(socket) => socket.is_write_vectored(),
            Output::Other(file) => file.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().0 {
            Output::Pipe(pipe) => Pin::new(pipe).poll_flush(cx),
            Output::Socket(socket) => Pin::new(socket).poll_flush(cx),
            Output::Other(file) => Pin::new(file).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().0 {
            Output::Pipe(pipe) => Pin::new(pipe).poll_shutdown(cx),
            Output::Socket(socket) => Pin::new(socket).poll_shutdown(cx),
            Output::Other(file) => Pin::new(file).poll_shutdown(cx),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use std::io::{Read, Seek};

    /// Whether this system lets a pipe be opened once more.
    const ANEW: bool = cfg!(target_os = "linux");

    #[tokio::test]
    async fn each_kind_of_descriptor_is_taken_as_what_it_is() {
        let (reader, writer) = io::pipe().unwrap();
        let (socket, _peer) = std::os::unix::net::UnixStream::pair().unwrap();
        let null = File::options().read(true).write(true).open("/dev/null").unwrap();

        assert_eq!(
            matches!(OwnInput::of(reader.as_fd()).unwrap().0, Input::Pipe(_)),
            ANEW
        );
        assert_eq!(
            matches!(OwnOutput::of(writer.as_fd()).unwrap().0, Output::Pipe(_)),
            ANEW
        );
        assert!(matches!(
            OwnInput::of(socket.as_fd()).unwrap().0,
            Input::Socket(_)
        ));
        assert!(matches!(
            OwnOutput::of(socket.as_fd()).unwrap().0,
            Output::Socket(_)
        ));
        assert!(matches!(OwnInput::of(null.as_fd()).unwrap().0, Input::Other(_)));
        assert!(matches!(OwnOutput::of(null.as_fd()).unwrap().0, Output::Other(_)));
    }

    #[tokio::test]
    async fn a_file_is_finished_only_when_it_holds_the_frame() {
        let mut file = tempfile::tempfile().unwrap();
        let sink = FrameSink::spawn(OwnOutput::of(file.as_fd()).unwrap(), 100);
        let number = sink.push(Bytes::from_static(b"one")).unwrap();
        sink.flushed().await;
        assert_eq!(sink.finished(), number);
        file.rewind().unwrap();
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(text, "one\n");
    }

    #[tokio::test]
    async fn a_full_disk_is_not_called_finished() {
        // Only Linux has the device that is always full.
        let Ok(full) = File::options().write(true).open("/dev/full") else {
            return;
        };
        let sink = FrameSink::spawn(OwnOutput::of(full.as_fd()).unwrap(), 100);
        let number = sink.push(Bytes::from_static(b"one")).unwrap();
        assert_eq!(sink.closed().await, Some(io::ErrorKind::StorageFull));
        assert_eq!(
            (sink.begun(), sink.finished()),
            (number, crate::FrameNumber::NONE)
        );
    }

    #[tokio::test]
    async fn a_reader_that_left_before_we_came_is_a_broken_pipe() {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        let sink = FrameSink::spawn(OwnOutput::of(writer.as_fd()).unwrap(), 100);
        sink.push(Bytes::from_static(b"one")).unwrap();
        assert_eq!(sink.closed().await, Some(io::ErrorKind::BrokenPipe));
    }
}
