//! Keys, session token and region from the AWS profile files, which `object_store` doesn't read. Crates for
//! INI files take the nested values of these files for values of the section.

use object_store::aws::AwsCredential;
use std::collections::HashMap;
use std::env;
use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

/// The values of a profile.
#[derive(Default)]
pub(super) struct Profile {
    pub(super) credential: Option<AwsCredential>,
    pub(super) region: Option<String>,
}

impl Profile {
    /// The profile that `AWS_PROFILE` names, else `default`, from `~/.aws/credentials` and
    /// `~/.aws/config` or the files that the environment names instead.
    pub(super) fn of_environment() -> Result<Self, String> {
        let named = env::var("AWS_PROFILE").ok().filter(|name| !name.is_empty());
        let name = named.as_deref().unwrap_or("default");
        let credentials = text_of("AWS_SHARED_CREDENTIALS_FILE", "credentials")?;
        let config = text_of("AWS_CONFIG_FILE", "config")?;
        let profile = Self::read(name, &credentials, &config);
        match named {
            Some(name) if profile.credential.is_none() => Err(format!("the AWS profile {name} holds no access key")),
            _ => Ok(profile),
        }
    }

    fn read(name: &str, credentials: &str, config: &str) -> Self {
        let mut values = section(config, &format!("profile {name}"));
        if name == "default" {
            values.extend(section(config, name));
        }
        values.extend(section(credentials, name));
        let mut take = |key: &str| values.remove(key).filter(|value| !value.is_empty());
        let credential = match (take("aws_access_key_id"), take("aws_secret_access_key")) {
            (Some(key_id), Some(secret_key)) => {
                Some(AwsCredential { key_id, secret_key, token: take("aws_session_token") })
            }
            _ => None,
        };
        Self { credential, region: take("region") }
    }
}

fn text_of(variable: &str, name: &str) -> Result<String, String> {
    let path = match env::var_os(variable) {
        Some(path) => PathBuf::from(path),
        None => match env::home_dir() {
            Some(home) => home.join(".aws").join(name),
            None => return Ok(String::new()),
        },
    };
    match fs::read_to_string(&path) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(format!("cannot read {}: {error}", path.display())),
    }
}

/// The values of a section. Indented lines belong to the value above them and hold nothing that
/// Platen needs.
fn section(text: &str, name: &str) -> HashMap<String, String> {
    let mut inside = false;
    let mut values = HashMap::new();
    for line in text.lines().filter(|line| !line.starts_with([' ', '\t', '#', ';'])) {
        if let Some(header) = line.strip_prefix('[') {
            let header = header.split(']').next().unwrap_or_default();
            inside = header.split_whitespace().eq(name.split_whitespace());
        } else if inside && let Some((key, value)) = line.split_once('=') {
            values.insert(key.trim().to_ascii_lowercase(), value.trim().to_owned());
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    const CREDENTIALS: &str = "# of the print shop\n[default]\naws_access_key_id = AKIA1\naws_secret_access_key=one=\n\n\
        [other]\naws_access_key_id = AKIA2\naws_secret_access_key = two\naws_session_token = token\n";
    const CONFIG: &str = "[default]\nregion = eu-west-1\ns3 =\n  region = none\n[ profile other ]\nREGION=eu-north-1\n";

    #[test]
    fn keys_token_and_region_are_read_from_the_named_profile() {
        let Profile { credential, region } = Profile::read("other", CREDENTIALS, CONFIG);
        let credential = credential.unwrap();
        assert_eq!((credential.key_id.as_str(), credential.secret_key.as_str()), ("AKIA2", "two"));
        assert_eq!(credential.token.as_deref(), Some("token"));
        assert_eq!(region.as_deref(), Some("eu-north-1"));
    }

    #[test]
    fn the_default_profile_is_a_section_without_the_word_profile() {
        let Profile { credential, region } = Profile::read("default", CREDENTIALS, CONFIG);
        let credential = credential.unwrap();
        assert_eq!((credential.key_id.as_str(), credential.secret_key.as_str()), ("AKIA1", "one="));
        assert_eq!(credential.token, None);
        assert_eq!(region.as_deref(), Some("eu-west-1"));
    }

    #[test]
    fn an_unknown_profile_says_nothing() {
        let profile = Profile::read("third", CREDENTIALS, CONFIG);
        assert!(profile.credential.is_none() && profile.region.is_none());
    }
}
