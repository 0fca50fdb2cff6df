//! A contract pack: the tool tables of a `candor.toml`, with the package, the versions and the schemas they were written for.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path as FilePath;

use candor_core::contract::rules::Zone;

use super::build::{self, Builder, LoadFault, ToolConfig};
use super::fault::{ConfigFault, FaultKind};
use super::keys::Placed;
use super::raw::RawPack;
use super::reader::Reader;
use super::recovery::Classes;
use super::text::Text;
use crate::packs::{Package, PackageFault, VersionFault, Versions};

/// A pack, every clause checked.
#[derive(Debug, Clone)]
pub struct Pack {
    /// What it is called: a clause of it comes from `pack NAME`, line so and so.
    pub name: String,
    /// The package whose server it is for.
    pub package: Package,
    /// The versions of it.
    pub versions: Versions,
    /// The names that such a server gives itself.
    pub servers: Vec<String>,
    /// Digests of the input schemas that the clauses of a tool were written for.
    pub digests: BTreeMap<String, BTreeSet<String>>,
    /// What it says of each tool.
    pub tools: BTreeMap<String, ToolConfig>,
}

/// What can be wrong with the head of a pack.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PackFault {
    /// Not a package.
    #[error(transparent)]
    Package(#[from] PackageFault),
    /// Not a range of versions.
    #[error(transparent)]
    Versions(#[from] VersionFault),
    /// Not a digest.
    #[error("a digest is expected here: \"sha256:\" and 64 hexadecimal digits")]
    Digest,
}

impl Pack {
    /// Reads and checks a pack's file. It is called as the file is, without its ending.
    ///
    /// # Errors
    /// If the file can't be read or anything in it is wrong.
    pub fn load(path: &FilePath) -> Result<Self, LoadFault> {
        let text = build::text_of(path)?;
        let name = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy();
        Self::parse(&name, &text).map_err(|faults| LoadFault::Invalid {
            file: path.display().to_string(),
            text,
            faults,
        })
    }

    /// Checks the text of a pack. Nothing of the environment is put into it.
    ///
    /// # Errors
    /// Every fault of the text, in its order.
    pub fn parse(name: &str, source: &str) -> Result<Self, Vec<ConfigFault>> {
        let file = format!("pack {name}");
        let environment = |_: &str| None;
        let mut reader = Reader::new(Text { file: &file, source }, &environment);
        let pack = reader
            .document::<RawPack>()
            .and_then(|raw| read(name, raw, &mut reader));
        let faults = reader.into_faults();
        match pack {
            Some(pack) if faults.is_empty() => Ok(pack),
            _ => Err(faults),
        }
    }
}

fn read(name: &str, raw: RawPack, reader: &mut Reader<'_>) -> Option<Pack> {
    let package = raw.package.and_then(|placed| parsed(&placed, reader));
    let versions = raw.versions.and_then(|placed| parsed(&placed, reader));
    let digests = build::named(raw.digests).map(|(tool, digests)| {
        let digests = digests.into_iter().filter_map(|placed| digest(placed, reader));
        (tool, digests.collect())
    });
    let digests = digests.collect();
    let mut builder = Builder { reader };
    let classes = Classes::of(raw.tools.as_ref());
    let tools = build::named(raw.tools).map(|(name, tool)| {
        let config = builder.tool(&name, tool, &classes, &Zone::utc());
        (name, config)
    });
    Some(Pack {
        name: name.to_owned(),
        tools: tools.collect(),
        package: package?,
        versions: versions?,
        servers: build::list(raw.server).map(|placed| placed.value).collect(),
        digests,
    })
}

fn parsed<T: std::str::FromStr<Err: Into<PackFault>>>(
    placed: &Placed<String>,
    reader: &mut Reader<'_>,
) -> Option<T> {
    match placed.value.parse() {
        Ok(value) => Some(value),
        Err(fault) => {
            let fault: PackFault = T::Err::into(fault);
            reader.fault(placed.span.clone(), FaultKind::Pack(fault))
        }
    }
}

fn digest(placed: Placed<String>, reader: &mut Reader<'_>) -> Option<String> {
    let is_digest = placed
        .value
        .strip_prefix("sha256:")
        .is_some_and(|digits| digits.len() == 64 && digits.chars().all(|c| c.is_ascii_hexdigit()));
    if is_digest {
        Some(placed.value)
    } else {
        reader.fault(placed.span, FaultKind::Pack(PackFault::Digest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clause_of_a_pack_says_from_which_line_of_it_it_comes() {
        let text =
            "package = \"npm:p\"\nversions = \">=1\"\nserver = [\"s\"]\n[tools.t]\neffect = \"read\"\n";
        let pack = Pack::parse("p", text).unwrap();
        let effect = pack.tools["t"].effect.as_ref().unwrap();
        assert_eq!(effect.source.to_string(), "pack p:5");
    }

    #[test]
    fn every_fault_of_a_pack_is_said_with_its_place() {
        let text =
            "package = \"p\"\nversions = \"1\"\n[digests]\nt = [\"md5:0\"]\n[tools.t]\neffekt = \"read\"\n";
        let faults = Pack::parse("p", text).unwrap_err();
        let told: Vec<String> = faults.iter().map(ToString::to_string).collect();
        let parts = [
            "a package is expected here",
            "is no bound of versions",
            "a digest is expected here",
            "unknown key \"effekt\"",
            "the key \"server\" is missing",
        ];
        for part in parts {
            assert!(told.iter().any(|fault| fault.contains(part)), "{part}: {told:#?}");
        }
        assert_eq!(faults.len(), parts.len(), "{told:#?}");
    }
}
