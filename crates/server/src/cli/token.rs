//! `platen token issue`, `platen token list` and `platen token revoke`

use super::failure::Failure;
use super::listing::{Listing, Record};
use super::operator::role;
use super::output;
use super::query;
use super::table::{Cell, Column, escape, escape_json};
use super::values;
use crate::config::Config;
use crate::wiring::{self, Missing};
use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use domain::operator::{OperatorName, Role, TokenId};
use domain::page::PageRequest;
use domain::timestamp::Timestamp;
use domain::token::{DEFAULT_TOKEN_LIFETIME, IssueToken, MAX_TOKEN_LIFETIME, Token, TokenService};
use futures_util::stream;
use serde_json::{Value, json};
use std::process::ExitCode;
use std::time::Duration;

/// Tokens that are read at once.
const PAGE: u64 = 500;

#[derive(Debug, Subcommand)]
pub(super) enum TokenCommand {
    /// Issue a token for a program and print it once
    Issue(Issued),
    /// List the tokens, the newest first: never the token itself
    List {
        /// Only the tokens of this operator
        #[arg(long, value_name = "NAME")]
        operator: Option<String>,
        /// Write one JSON object per line
        #[arg(long)]
        json: bool,
    },
    /// Revoke a token for ever
    Revoke {
        /// Its id in platen token list
        #[arg(value_name = "ID")]
        id: i64,
    },
}

/// A token to issue.
#[derive(Debug, Args)]
pub(super) struct Issued {
    /// Operator whose token it is
    #[arg(long, value_name = "NAME")]
    operator: String,
    /// What the token is for
    #[arg(long, value_name = "TEXT", value_parser = OperatorName::parse)]
    name: OperatorName,
    /// What the token may do, at most what its operator may [default: the same]
    #[arg(long, value_name = "ROLE", value_parser = role)]
    role: Option<Role>,
    /// How long it is valid, at most 366d [default: 90d]
    #[arg(long, value_name = "DURATION", value_parser = lifetime)]
    expires: Option<Duration>,
}

fn lifetime(text: &str) -> Result<Duration, String> {
    let lifetime = values::duration(text)?;
    let is_allowed = !lifetime.is_zero() && lifetime <= MAX_TOKEN_LIFETIME;
    is_allowed.then_some(lifetime).ok_or_else(|| "allowed is a duration above zero, at most 366d".to_owned())
}

pub(super) async fn run(config: &Config, command: TokenCommand) -> Result<ExitCode, Failure> {
    let actor = wiring::actor();
    match command {
        TokenCommand::Issue(Issued { operator, name, role, expires }) => {
            let lifetime = expires.unwrap_or(DEFAULT_TOKEN_LIFETIME);
            let command = IssueToken { operator, name, role, lifetime };
            change(config, async |tokens| {
                let (token, secret) = tokens.issue(&actor, command).await?;
                let mut line = token.json();
                line["token"] = secret.reveal().into();
                output::secret_line(&escape_json(&line.to_string()))
                    .with_context(|| format!("token {} was issued but is lost; revoke it", token.id.0))
            })
            .await
        }
        TokenCommand::List { operator, json } => {
            query::run(config, async |database, out| {
                let tokens = wiring::tokens(database);
                let mut all = Vec::new();
                let mut after = None;
                loop {
                    let page = tokens.list(&actor, operator.as_deref(), PageRequest { after, limit: PAGE }).await?;
                    all.extend(page.items);
                    let Some(next) = page.next else { break };
                    after = Some(next);
                }
                let all = stream::iter(all.into_iter().map(anyhow::Ok));
                Listing::new(COLUMNS, out, json).write(all, "no tokens found", out).await
            })
            .await
        }
        TokenCommand::Revoke { id } => {
            change(config, async |tokens| {
                let (token, is_changed) = tokens.revoke(&actor, TokenId(id)).await?;
                let done = if is_changed { "revoked token" } else { "revoked before: token" };
                let Token { name, operator, .. } = token;
                output::line(&escape(&format!("{done} {id} \"{name}\" of operator \"{operator}\"")))
            })
            .await
        }
    }
}

async fn change(config: &Config, work: impl AsyncFnOnce(&TokenService) -> Result<()>) -> Result<ExitCode, Failure> {
    let (database, _) = wiring::open_database(&config.database, Missing::Refuse).await?;
    let done = work(&wiring::tokens(&database)).await;
    wiring::close(database).await;
    done?;
    Ok(ExitCode::SUCCESS)
}

const COLUMNS: [Column; 8] = [
    Column::whole("ID"),
    Column::text("OPERATOR"),
    Column::text("NAME"),
    Column::whole("ROLE"),
    Column::whole("ISSUED"),
    Column::whole("EXPIRES"),
    Column::whole("LAST USED"),
    Column::whole("REVOKED"),
];

impl Record for Token {
    fn json(&self) -> Value {
        let time = |time: Option<Timestamp>| time.map(|time| time.to_string());
        json!({
            "id": self.id.0,
            "operator": self.operator,
            "name": self.name,
            "role": self.role.as_str(),
            "issued": self.issued.to_string(),
            "expires": self.expires.to_string(),
            "last_used": time(self.last_used),
            "revoked": time(self.revoked),
        })
    }

    fn cells(&self) -> Vec<Cell> {
        let time = |time: Option<Timestamp>| Cell::new(time.map(|time| time.to_string()).unwrap_or_default());
        vec![
            Cell::new(self.id.0.to_string()),
            Cell::new(&self.operator),
            Cell::new(&self.name),
            Cell::new(self.role.as_str()),
            time(Some(self.issued)),
            time(Some(self.expires)),
            time(self.last_used),
            time(self.revoked),
        ]
    }
}
