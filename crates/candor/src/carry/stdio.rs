//! rmcp's line transport with the rewriting around it, so that a server over stdio has the tasks of 2025-11-25.

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream};

use super::rewriting::{inwards, may_concern, outwards, rewritten};

/// Bytes that wait between here and rmcp, each way.
const PIPE: usize = 64 * 1024;
/// The longest line that is rewritten. A longer one passes in pieces and untouched: nothing is held for it here.
const LONGEST: usize = 4 * 1024 * 1024;

/// This process's stdin and stdout as a transport: `server.serve(candor::carry::stdio()).await`.
///
/// Must be called on a tokio runtime. Without it (with rmcp's own `stdio()`) a server offers no tasks to clients of
/// 2025-11-25, and is otherwise the same.
pub fn stdio() -> (DuplexStream, DuplexStream) {
    let (read, write) = rmcp::transport::stdio();
    over(read, write)
}

/// Any pair of streams that carries one message a line, as a transport for `serve`. Must be called on a tokio runtime.
pub fn over<R, W>(read: R, write: W) -> (DuplexStream, DuplexStream)
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let (to_rmcp, rmcp_reads) = tokio::io::duplex(PIPE);
    let (rmcp_writes, from_rmcp) = tokio::io::duplex(PIPE);
    tokio::spawn(carried(read, to_rmcp, inwards));
    tokio::spawn(carried(from_rmcp, write, outwards));
    (rmcp_reads, rmcp_writes)
}

async fn carried<R, W>(read: R, write: W, how: fn(&mut Value) -> bool)
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    // Either end may leave at any time; rmcp sees the end of its pipe and ends as it does without this.
    if let Err(error) = pump(read, write, how, LONGEST).await {
        tracing::debug!(%error, "a carried stream ended");
    }
}

async fn pump<R, W>(read: R, mut write: W, how: fn(&mut Value) -> bool, longest: usize) -> std::io::Result<()>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let mut read = BufReader::new(read);
    let mut line = Vec::new();
    // Inside a line that is too long to be rewritten.
    let mut passing = false;
    loop {
        let there = read.fill_buf().await?;
        let end = there.iter().position(|byte| *byte == b'\n');
        let piece = end.map_or(there.len(), |end| end + 1);
        let over = piece == 0;
        line.extend(there.iter().take(piece));
        read.consume(piece);
        if end.is_none() && !over && line.len() < longest && !passing {
            continue;
        }
        let whole = (end.is_some() || over) && !passing;
        match Some(&line)
            .filter(|line| whole && may_concern(line))
            .and_then(|line| rewritten(line, how))
        {
            Some(text) => {
                write.write_all(text.as_bytes()).await?;
                write.write_all(b"\n").await?;
            }
            None => write.write_all(&line).await?,
        }
        if over {
            return write.shutdown().await;
        }
        write.flush().await?;
        line.clear();
        passing = end.is_none();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn pumped(text: &str, longest: usize) -> String {
        let mut out = Vec::new();
        pump(text.as_bytes(), &mut out, inwards, longest).await.unwrap();
        String::from_utf8(out).unwrap()
    }

    const GET: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"t"}}"#;

    #[tokio::test]
    async fn lines_are_rewritten_one_by_one() {
        let other = r#"{ "method" : "tools/call" , "n" : 1.10 }"#;
        let out = pumped(&format!("{other}\r\n{GET}\n\n{other}\n"), LONGEST).await;
        let expected = format!(
            "{other}\r\n{}\n\n{other}\n",
            GET.replace("tasks/get", "candor/tasks/get")
        );
        assert_eq!(out, expected);
    }

    #[tokio::test]
    async fn a_line_above_the_bound_passes_untouched_and_the_next_is_rewritten() {
        let long = "x".repeat(40_000);
        let out = pumped(&format!("{long}\n{GET}"), 1_000).await;
        assert_eq!(
            out,
            format!("{long}\n{}\n", GET.replace("tasks/get", "candor/tasks/get"))
        );
    }
}
