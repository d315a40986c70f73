//! `platen key list`, `platen key issue` and `platen key revoke`

use super::failure::Failure;
use super::listing::{Listing, Record};
use super::output::{self, Out};
use super::query::{self, QueryOptions};
use super::table::{Cell, Column, escape};
use crate::config::Config;
use crate::wiring::{self, Missing};
use adapters_db::Database;
use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use domain::fleet::{KeyRegistry, RegisteredKey};
use domain::timestamp::Timestamp;
use futures_util::stream;
use serde_json::{Value, json};
use std::process::ExitCode;

#[derive(Debug, Subcommand)]
pub(super) enum KeyCommand {
    /// List the MisKeys: whose they are, when they were issued and last used, never the key itself
    List {
        #[command(flatten)]
        query: QueryOptions,
        /// Only the keys of users with this name
        #[arg(long, value_name = "NAME")]
        user: Option<String>,
    },
    /// Issue one more MisKey to a user and print it once
    Issue(Holder),
    /// Revoke MisKeys for ever: one, or all of a user
    Revoke(Revoked),
}

/// Whose keys they are.
#[derive(Debug, Args)]
pub(super) struct Holder {
    /// Organization of the user
    #[arg(long, value_name = "NAME")]
    organization: String,
    /// User whose keys they are
    #[arg(long, value_name = "NAME")]
    user: String,
}

/// One key, or all of a user.
#[derive(Debug, Args)]
pub(super) struct Revoked {
    /// Only this key: its id in platen key list, or the beginning of it
    #[arg(long, value_name = "ID", conflicts_with_all = ["organization", "user"])]
    id: Option<String>,
    /// Organization of the user whose keys are all revoked
    #[arg(long, value_name = "NAME", required_unless_present = "id")]
    organization: Option<String>,
    /// User whose keys are all revoked
    #[arg(long, value_name = "NAME", required_unless_present = "id")]
    user: Option<String>,
}

pub(super) async fn run(config: &Config, command: KeyCommand) -> Result<ExitCode, Failure> {
    match command {
        KeyCommand::List { query: asked, user } => {
            query::run(config, async |database, out| {
                list(&database.fleet_registry(), &asked, user.as_deref(), out).await
            })
            .await
        }
        KeyCommand::Issue(holder) => change(config, async |database| issue(database, &holder).await).await,
        KeyCommand::Revoke(revoked) => change(config, async |database| revoke(database, revoked).await).await,
    }
}

async fn change(config: &Config, work: impl AsyncFnOnce(&Database) -> Result<()>) -> Result<ExitCode, Failure> {
    let (database, _) = wiring::open_database(&config.database, Missing::Refuse).await?;
    let done = work(&database).await;
    wiring::close(database).await;
    done?;
    Ok(ExitCode::SUCCESS)
}

async fn issue(database: &Database, holder: &Holder) -> Result<()> {
    output::key(&wiring::fleet_service(database).issue_key(&holder.organization, &holder.user).await?)
}

async fn revoke(database: &Database, revoked: Revoked) -> Result<()> {
    if let Some(id) = revoked.id {
        return revoke_one(&wiring::fleet_registry(database), &id).await;
    }
    let (organization, user) = (revoked.organization.unwrap_or_default(), revoked.user.unwrap_or_default());
    let revoked = wiring::fleet_service(database).revoke_keys(&organization, &user).await?.revoked;
    output::line(&summary(revoked, &organization, &user))
}

async fn revoke_one(keys: &dyn KeyRegistry, text: &str) -> Result<()> {
    let all = keys.list(None).await?;
    let digits = text.trim().to_ascii_lowercase();
    let found: Vec<&RegisteredKey> = all.iter().filter(|key| key.id.to_string().starts_with(&digits)).collect();
    let key = match found[..] {
        [one] if !digits.is_empty() => one,
        [_, _, ..] => bail!("several keys begin with {text}; give more of the id"),
        _ => bail!("there is no key {text}"),
    };
    let (id, is_changed) = (key.id, keys.revoke(key.id, wiring::clock().now()).await?);
    let others = all.iter().filter(|other| (&other.user, &other.organization) == (&key.user, &key.organization));
    let valid = others.filter(|other| other.id != id && other.revoked.is_none()).count();
    let (user, organization) = (escape(&key.user), escape(&key.organization));
    let done = if is_changed { "revoked key" } else { "revoked before: key" };
    output::line(&format!("{done} {id} of {user} of {organization}; valid keys of the user: {valid}"))
}

fn summary(revoked: u64, organization: &str, user: &str) -> String {
    let (user, organization) = (escape(user), escape(organization));
    match revoked {
        0 => format!("revoked 0 keys of {user} of {organization}: the user had none that was valid"),
        1 => format!("revoked 1 key of {user} of {organization}"),
        _ => format!("revoked {revoked} keys of {user} of {organization}"),
    }
}

async fn list(keys: &dyn KeyRegistry, asked: &QueryOptions, user: Option<&str>, out: &mut Out<'_>) -> Result<()> {
    let mut listed = keys.list(asked.organization.clone()).await?;
    listed.retain(|key| user.is_none_or(|user| key.user == user));
    let listed = stream::iter(listed.into_iter().map(anyhow::Ok));
    Listing::new(COLUMNS, out, asked.json).write(listed, "no keys found", out).await
}

const COLUMNS: [Column; 6] = [
    Column::whole("ID"),
    Column::text("ORGANIZATION"),
    Column::text("USER"),
    Column::whole("ISSUED"),
    Column::whole("LAST USED"),
    Column::whole("REVOKED"),
];

impl Record for RegisteredKey {
    fn json(&self) -> Value {
        let time = |time: Option<Timestamp>| time.map(|time| time.to_string());
        json!({
            "id": self.id.to_string(),
            "organization": self.organization,
            "user": self.user,
            "issued": self.issued.to_string(),
            "last_used": time(self.last_used),
            "revoked": time(self.revoked),
        })
    }

    fn cells(&self) -> Vec<Cell> {
        let time = |time: Option<Timestamp>| Cell::new(time.map(|time| time.to_string()).unwrap_or_default());
        vec![
            Cell::new(self.id.to_string()),
            Cell::new(&self.organization),
            Cell::new(&self.user),
            time(Some(self.issued)),
            time(self.last_used),
            time(self.revoked),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::table::Screen;
    use domain::access::CredentialDigest;
    use domain::fleet::{FleetRegistry, KeyId};
    use domain::testing::{ACME, ANN_KEY, InMemoryStore, a_fleet, at};

    async fn shown(user: Option<&str>, json: bool) -> String {
        let store = InMemoryStore::new();
        store.apply(&a_fleet(), &[], at(0)).await.unwrap();
        store.revoke_keys(ACME, "Bob", at(60)).await.unwrap();
        store.note_uses(&[(CredentialDigest::of(ANN_KEY), at(30))]).await.unwrap();
        let mut answer = Vec::new();
        let asked = QueryOptions { organization: Some(ACME.to_owned()), json };
        list(&store, &asked, user, &mut Out::new(&mut answer, Screen::PIPE)).await.unwrap();
        String::from_utf8(answer).unwrap()
    }

    #[tokio::test]
    async fn keys_are_shown_by_their_ids_and_never_themselves() {
        let table = shown(None, false).await;
        let id = KeyId::of(&CredentialDigest::of(ANN_KEY)).to_string();
        let line = table.lines().find(|line| line.starts_with(&id)).unwrap();
        assert!(
            line.contains("  Acme Print  ") && line.contains("  Ann  ") && line.ends_with(&at(30).to_string()),
            "{line}"
        );
        assert!(table.lines().any(|line| line.contains("Bob") && line.ends_with(&at(60).to_string())), "{table}");
        assert!(!table.contains(ANN_KEY) && !table.contains("Zenith"), "{table}");
    }

    #[tokio::test]
    async fn json_is_a_key_a_line() {
        let line: Value = serde_json::from_str(shown(Some("Ann"), true).await.trim()).unwrap();
        assert_eq!((&line["user"], &line["revoked"]), (&"Ann".into(), &Value::Null));
        assert_eq!(line["last_used"], at(30).to_string());
    }

    #[test]
    fn names_control_no_terminal() {
        let text = summary(1, "Acme\u{1b}]0;owned\u{7}", "Ann\r\n");
        assert!(!text.chars().any(char::is_control), "{text:?}");
    }
}
