//! `platen key list`, `platen key issue` and `platen key revoke`

use super::failure::Failure;
use super::listing::{Listing, Record};
use super::lookup::Organizations;
use super::output::{self, Out};
use super::query::{self, QueryOptions};
use super::table::{Cell, Column, escape};
use crate::config::Config;
use crate::wiring::{self, Missing};
use adapters_db::Database;
use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use domain::fleet::{KeyFilter, KeyIdPrefix, KeyRegistry, RegisteredKey};
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
                let organizations = Organizations::read(&database.inspection(), asked.organization.as_deref()).await?;
                let organization = organizations.only().map(|only| only.name.clone());
                let filter = KeyFilter { organization, user, id: None };
                list(&database.fleet_registry(), filter, asked.json, out).await
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
    let organization = Organizations::name_of(&database.inspection(), &holder.organization).await?;
    output::key(&wiring::fleet_service(database).issue_key(&organization, &holder.user).await?)
}

async fn revoke(database: &Database, revoked: Revoked) -> Result<()> {
    if let Some(id) = revoked.id {
        return output::line(&revoke_one(&wiring::fleet_registry(database), &id).await?);
    }
    let (organization, user) = (revoked.organization.unwrap_or_default(), revoked.user.unwrap_or_default());
    let organization = Organizations::name_of(&database.inspection(), &organization).await?;
    let revoked = wiring::fleet_service(database).revoke_keys(&organization, &user).await?.revoked;
    output::line(&summary(revoked, &organization, &user))
}

/// Revokes the one key whose id begins so, and says what was done.
async fn revoke_one(keys: &dyn KeyRegistry, text: &str) -> Result<String> {
    let missing = || format!("there is no key {text}");
    let prefix = KeyIdPrefix::parse(text.trim()).with_context(missing)?;
    let found = keys.list(KeyFilter { id: Some(prefix), ..KeyFilter::default() }).await?;
    let RegisteredKey { id, organization, user, .. } = match &found[..] {
        [] => bail!(missing()),
        [one] => one,
        several => {
            let ids: Vec<_> = several.iter().map(|key| key.id.to_string()).collect();
            bail!("several keys begin with {text}: {}; give more of the id", ids.join(", "))
        }
    };
    let is_changed = keys.revoke(*id, wiring::clock().now()).await?;
    let of_user =
        KeyFilter { organization: Some(organization.clone()), user: Some(user.clone()), ..KeyFilter::default() };
    let valid = keys.list(of_user).await?.iter().filter(|key| key.revoked.is_none()).count();
    let (user, organization) = (escape(user), escape(organization));
    let done = if is_changed { "revoked key" } else { "revoked before: key" };
    Ok(format!("{done} {id} of {user} of {organization}; valid keys of the user: {valid}"))
}

fn summary(revoked: u64, organization: &str, user: &str) -> String {
    let (user, organization) = (escape(user), escape(organization));
    match revoked {
        0 => format!("revoked 0 keys of {user} of {organization}: the user had none that was valid"),
        1 => format!("revoked 1 key of {user} of {organization}"),
        _ => format!("revoked {revoked} keys of {user} of {organization}"),
    }
}

async fn list(keys: &dyn KeyRegistry, filter: KeyFilter, as_json: bool, out: &mut Out<'_>) -> Result<()> {
    let listed = stream::iter(keys.list(filter).await?.into_iter().map(anyhow::Ok));
    Listing::new(COLUMNS, out, as_json).write(listed, "no keys found", out).await
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
            "user_removed": self.is_user_retired,
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
            Cell::named(&self.user, self.is_user_retired),
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
    use domain::fleet::{FleetRecord, FleetRegistry, KeyId, MockKeyRegistry, RecordRegistry};
    use domain::testing::{ACME, ANN_KEY, InMemoryStore, a_fleet, at};

    async fn store() -> InMemoryStore {
        let store = InMemoryStore::new();
        store.apply(&a_fleet(), &[], at(0)).await.unwrap();
        store.revoke_keys(ACME, "Bob", at(60)).await.unwrap();
        store.note_uses(&[(CredentialDigest::of(ANN_KEY), at(30))]).await.unwrap();
        store
    }

    async fn shown(store: &InMemoryStore, user: Option<&str>, json: bool) -> String {
        let mut answer = Vec::new();
        let filter = KeyFilter { organization: Some(ACME.to_owned()), user: user.map(str::to_owned), id: None };
        list(store, filter, json, &mut Out::new(&mut answer, Screen::PIPE)).await.unwrap();
        String::from_utf8(answer).unwrap()
    }

    #[tokio::test]
    async fn keys_are_shown_by_their_ids_and_never_themselves() {
        let table = shown(&store().await, None, false).await;
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
        let line: Value = serde_json::from_str(shown(&store().await, Some("Ann"), true).await.trim()).unwrap();
        assert_eq!((&line["user"], &line["revoked"]), (&"Ann".into(), &Value::Null));
        assert_eq!(line["last_used"], at(30).to_string());
    }

    #[tokio::test]
    async fn the_keys_of_a_removed_user_are_marked() {
        let store = store().await;
        store.set_retired(ACME, &FleetRecord::User("Ann".to_owned()), Some(at(60))).await.unwrap();
        assert!(shown(&store, Some("Ann"), false).await.contains("  Ann (removed)  "));
        assert!(shown(&store, Some("Ann"), true).await.contains("\"user_removed\":true"));
    }

    #[tokio::test]
    async fn one_key_is_revoked_by_the_unique_beginning_of_its_id() {
        let store = store().await;
        let id = KeyId::of(&CredentialDigest::of(ANN_KEY)).to_string();
        let expected = format!("revoked key {id} of Ann of Acme Print; valid keys of the user: 0");
        assert_eq!(revoke_one(&store, &id[..8].to_uppercase()).await.unwrap(), expected);
        for text in ["ffffffffffffffff", "", "Ann"] {
            let unknown = revoke_one(&store, text).await.unwrap_err().to_string();
            assert_eq!(unknown, format!("there is no key {text}"));
        }
        let mut keys = MockKeyRegistry::new();
        let found = store.list(KeyFilter::default()).await.unwrap();
        keys.expect_list().withf(|filter| filter.id == KeyIdPrefix::parse("0")).return_once(|_| Ok(found));
        let several = revoke_one(&keys, "0").await.unwrap_err().to_string();
        assert!(several.starts_with("several keys begin with 0: ") && several.contains(&id), "{several}");
    }

    #[test]
    fn names_control_no_terminal() {
        let text = summary(1, "Acme\u{1b}]0;owned\u{7}", "Ann\r\n");
        assert!(!text.chars().any(char::is_control), "{text:?}");
    }
}
