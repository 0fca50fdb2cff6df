//! Takes the text of a file apart, keeps positions, and gathers every fault instead of stopping at the first.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::expand::{Environment, expand};
use super::fault::{ConfigFault, FaultKind};
use super::keys::{FromToml, Placed, kind, nearest};
use super::text::Text;

/// Largest file, in bytes.
const FILE_LIMIT: usize = 1024 * 1024;
/// Most faults that are listed one by one.
const FAULT_LIMIT: usize = 50;

/// What is known while a file is read.
pub(super) struct Reader<'r> {
    text: Text<'r>,
    environment: Environment<'r>,
    faults: Vec<ConfigFault>,
    unlisted: usize,
}

impl<'r> Reader<'r> {
    /// A reader for one file.
    pub(super) fn new(text: Text<'r>, environment: Environment<'r>) -> Self {
        Self {
            text,
            environment,
            faults: Vec::new(),
            unlisted: 0,
        }
    }

    /// Reads the whole file as `T`. Where it is no TOML, only that is said: what follows from it would be noise.
    pub(super) fn document<T: FromToml>(&mut self) -> Option<T> {
        if self.text.source.len() > FILE_LIMIT {
            return self.fault(0..0, FaultKind::FileTooLarge { limit: FILE_LIMIT });
        }
        let (table, errors) = DeTable::parse_recoverable(self.text.source);
        for error in &errors {
            let end = self.text.source.len();
            let message = error.message().replace('\n', ", ");
            self.fault::<()>(error.span().unwrap_or(end..end), FaultKind::Syntax { message });
        }
        if !errors.is_empty() {
            return None;
        }
        let span = table.span();
        T::read(&Spanned::new(span, DeValue::Table(table.into_inner())), self)
    }

    /// Every fault so far, in the order of the file.
    pub(super) fn into_faults(mut self) -> Vec<ConfigFault> {
        self.faults.sort_by_key(|fault| fault.span.start);
        if let (true, Some(last)) = (self.unlisted > 0, self.faults.last().cloned()) {
            self.faults.push(ConfigFault {
                kind: FaultKind::More { count: self.unlisted },
                ..last
            });
        }
        self.faults
    }

    /// Notes a fault. Returns `None` so that a caller can end with it.
    pub(super) fn fault<T>(&mut self, span: Range<usize>, kind: FaultKind) -> Option<T> {
        if self.faults.len() >= FAULT_LIMIT {
            self.unlisted += 1;
            return None;
        }
        let position = self.text.position(span.start);
        self.faults.push(ConfigFault {
            file: self.text.file.to_owned(),
            line: position.line,
            column: position.column,
            span,
            kind,
        });
        None
    }

    /// Notes that a value is of another kind than expected.
    pub(super) fn wrong_kind<T>(
        &mut self,
        expected: &'static str,
        value: &Spanned<DeValue<'_>>,
    ) -> Option<T> {
        self.fault(
            value.span(),
            FaultKind::WrongKind {
                expected,
                found: kind(value.get_ref()),
            },
        )
    }

    /// Notes a key that means nothing in its table.
    pub(super) fn unknown_key(&mut self, span: Range<usize>, key: &str, known: &'static [&'static str]) {
        let kind = FaultKind::UnknownKey {
            key: key.to_owned(),
            nearest: nearest(key, known),
            known,
        };
        self.fault::<()>(span, kind);
    }

    /// Reads a value and keeps its place and that of its key.
    pub(super) fn placed<T: FromToml>(
        &mut self,
        key: Range<usize>,
        value: &Spanned<DeValue<'_>>,
    ) -> Option<Placed<T>> {
        Some(Placed {
            value: T::read(value, self)?,
            span: value.span(),
            key,
        })
    }

    /// Reads a string and puts in its variables.
    pub(super) fn string(&mut self, expected: &'static str, value: &Spanned<DeValue<'_>>) -> Option<String> {
        let DeValue::String(text) = value.get_ref() else {
            return self.wrong_kind(expected, value);
        };
        match expand(text, self.environment) {
            Ok(expanded) => Some(expanded),
            Err(fault) => self.fault(value.span(), FaultKind::Expand(fault)),
        }
    }

    /// The place in the file of byte `at` of the string at `span`, if the file holds that string as it is: in one
    /// piece and without escapes.
    pub(super) fn inside(&self, span: &Range<usize>, string: &str, at: usize) -> Option<Range<usize>> {
        let written = self.text.slice(span);
        let quotes = [3, 1].into_iter().find(|quotes| {
            let inner = written
                .len()
                .checked_sub(*quotes)
                .and_then(|end| written.get(*quotes..end));
            inner.is_some_and(|inner| inner.strip_prefix('\n').unwrap_or(inner) == string)
        })?;
        let newline = usize::from(written.get(quotes..)?.starts_with('\n') && !string.starts_with('\n'));
        let start = span.start + quotes + newline + at;
        let length = string.get(at..)?.chars().next().map_or(0, char::len_utf8);
        Some(start..start + length)
    }

    /// The line of a place, for provenance.
    pub(super) fn line(&self, span: &Range<usize>) -> u32 {
        self.text.position(span.start).line
    }

    /// The file's name, for provenance.
    pub(super) fn file(&self) -> &'r str {
        self.text.file
    }
}
