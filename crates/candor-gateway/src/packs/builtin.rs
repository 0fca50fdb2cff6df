//! The packs that are part of the program: the files of `contracts/`.

use crate::config::{ConfigFault, Pack};

macro_rules! packs {
    ($($name:literal),+ $(,)?) => {
        /// Each pack by its name, with its text.
        pub const BUILT_IN: &[(&str, &str)] = &[
            $(($name, include_str!(concat!("../../../../contracts/", $name, ".toml"))),)+
        ];
    };
}

packs!(
    "memory",
    "git-old",
    "sqlite",
    "mysql",
    "context7",
    "awsdocs",
    "mcp-cron",
    "kglite",
    "nano",
    "text-editor",
    "filesystem",
    "filesystem-old",
    "mcp-time",
);

/// All of them.
///
/// # Errors
/// What is wrong with one; a test sees to it that nothing is.
pub fn built_in() -> Result<Vec<Pack>, Vec<ConfigFault>> {
    BUILT_IN
        .iter()
        .map(|(name, text)| Pack::parse(name, text))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    #[test]
    fn every_file_of_the_folder_is_a_pack_and_part_of_the_program() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contracts");
        let files = std::fs::read_dir(folder).unwrap().filter_map(|entry| {
            let name = entry.unwrap().file_name().into_string().unwrap();
            name.strip_suffix(".toml").map(str::to_owned)
        });
        let files: BTreeSet<String> = files.collect();
        let known: BTreeSet<String> = BUILT_IN.iter().map(|(name, _)| (*name).to_owned()).collect();
        assert_eq!(files, known);
        for pack in built_in().unwrap() {
            assert!(!pack.tools.is_empty(), "{}", pack.name);
            for tool in pack.tools.keys() {
                assert!(
                    pack.digests.contains_key(tool),
                    "{}: no digest of {tool}",
                    pack.name
                );
            }
        }
    }
}
