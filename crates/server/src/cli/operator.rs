//! `platen operator add`, `platen operator list`, `platen operator reset-password` and `platen operator remove`

use super::failure::Failure;
use super::listing::{Listing, Record};
use super::lookup::Organizations;
use super::output;
use super::query;
use super::table::{Cell, Column, escape, escape_json};
use crate::config::Config;
use crate::wiring::{self, Missing};
use adapters_db::Database;
use anyhow::{Context, Result};
use clap::Subcommand;
use domain::operator::{AddOperator, NewPassword, Operator, OperatorName, OperatorService, Role};
use domain::page::PageRequest;
use domain::timestamp::Timestamp;
use futures_util::stream;
use serde_json::{Value, json};
use std::process::ExitCode;

/// Operators in one page.
const PAGE: u64 = 500;

#[derive(Debug, Subcommand)]
pub(super) enum OperatorCommand {
    /// Add an operator and print the generated password once
    Add {
        /// Name of the operator, at most 100 characters
        #[arg(value_name = "NAME", value_parser = OperatorName::parse)]
        name: OperatorName,
        /// What the operator may do: viewer reads, admin reads and changes
        #[arg(long, value_name = "ROLE", default_value = "admin", value_parser = role)]
        role: Role,
        /// The one organization that the operator sees; without it, all
        #[arg(long, value_name = "NAME")]
        organization: Option<String>,
    },
    /// List the operators
    List {
        /// Write one JSON object per line
        #[arg(long)]
        json: bool,
    },
    /// Give an operator a new generated password, print it once and end all sessions
    ResetPassword {
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Remove an operator with all sessions and tokens
    Remove {
        #[arg(value_name = "NAME")]
        name: String,
    },
}

/// Reads the role of an operator or a token.
pub(super) fn role(text: &str) -> Result<Role, String> {
    Role::parse(text).ok_or_else(|| "allowed is viewer or admin".to_owned())
}

pub(super) async fn run(config: &Config, command: OperatorCommand) -> Result<ExitCode, Failure> {
    let actor = wiring::actor();
    match command {
        OperatorCommand::Add { name, role, organization } => {
            change(config, Missing::Make, async |database, operators| {
                let organization = match organization {
                    Some(name) => Some(Organizations::name_of(&database.inspection(), &name).await?),
                    None => None,
                };
                let command = AddOperator { name, role, organization };
                let (operator, password) = operators.add(&actor, command).await?;
                print_password(&operator, &password)
            })
            .await
        }
        OperatorCommand::List { json } => {
            query::run(config, async |database, out| {
                let operators = wiring::operators(database);
                let mut all = Vec::new();
                let mut after = None;
                loop {
                    let page = operators.list(&actor, PageRequest { after, limit: PAGE }).await?;
                    all.extend(page.items);
                    let Some(next) = page.next else { break };
                    after = Some(next);
                }
                let nothing = "no operators; platen operator add NAME makes one";
                let all = stream::iter(all.into_iter().map(anyhow::Ok));
                Listing::new(COLUMNS, out, json).write(all, nothing, out).await
            })
            .await
        }
        OperatorCommand::ResetPassword { name } => {
            change(config, Missing::Refuse, async |_, operators| {
                let (operator, password) = operators.reset_password(&actor, &name).await?;
                print_password(&operator, &password)
            })
            .await
        }
        OperatorCommand::Remove { name } => {
            change(config, Missing::Refuse, async |_, operators| {
                let removed = operators.remove(&actor, &name).await?;
                output::line(&escape(&format!("removed {}", Operator::target(&removed.name))))
            })
            .await
        }
    }
}

async fn change(
    config: &Config,
    missing: Missing,
    work: impl AsyncFnOnce(&Database, &OperatorService) -> Result<()>,
) -> Result<ExitCode, Failure> {
    let (database, _) = wiring::open_database(&config.database, missing).await?;
    let done = work(&database, &wiring::operators(&database)).await;
    wiring::close(database).await;
    done?;
    Ok(ExitCode::SUCCESS)
}

/// Prints a password. It is shown only here (decision P1).
fn print_password(operator: &Operator, password: &NewPassword) -> Result<()> {
    let line = json!({
        "operator": operator.name,
        "role": operator.role.as_str(),
        "organization": operator.organization,
        "password": password.as_password().reveal(),
    });
    output::secret_line(&escape_json(&line.to_string()))
        .with_context(|| format!("the password of operator \"{}\" was set but is lost", operator.name))
}

const COLUMNS: [Column; 5] = [
    Column::text("NAME"),
    Column::whole("ROLE"),
    Column::text("ORGANIZATION"),
    Column::whole("CREATED"),
    Column::whole("LAST SIGN-IN"),
];

impl Record for Operator {
    fn json(&self) -> Value {
        json!({
            "name": self.name,
            "role": self.role.as_str(),
            "organization": self.organization,
            "created": self.created.to_string(),
            "last_sign_in": self.last_sign_in.map(|time| time.to_string()),
        })
    }

    fn cells(&self) -> Vec<Cell> {
        let time = |time: Option<Timestamp>| Cell::new(time.map(|time| time.to_string()).unwrap_or_default());
        vec![
            Cell::new(&self.name),
            Cell::new(self.role.as_str()),
            Cell::new(self.organization.as_deref().unwrap_or("all")),
            time(Some(self.created)),
            time(self.last_sign_in),
        ]
    }
}
