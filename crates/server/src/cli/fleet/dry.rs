//! `platen fleet apply --dry-run`: the changes that a fleet file would make.

use crate::cli::output;
use crate::cli::table::escape;
use crate::config::Config;
use crate::wiring;
use anyhow::Result;
use domain::fleet::{Changes, Fleet, NewKey, Preview};
use std::process::ExitCode;

/// Where there is no database, the file is compared with an empty one in memory.
pub(super) async fn run(config: &Config, fleet: &Fleet) -> Result<ExitCode> {
    let database = match wiring::missing_file(&config.database) {
        Some(_) => wiring::open_in_memory().await?,
        None => wiring::open_unchanged(&config.database).await?,
    };
    let preview = wiring::fleet_service(&database).preview(fleet).await;
    wiring::close(database).await;
    let preview = preview?;
    output::fleet_warnings(&preview.applied, output::warning);
    lines(fleet, &preview).iter().try_for_each(|line| output::line(&escape(line)))?;
    Ok(ExitCode::SUCCESS)
}

fn lines(fleet: &Fleet, preview: &Preview) -> Vec<String> {
    let Changes { added, changed, unchanged, not_in_file } = preview.changes(fleet);
    let added = added.iter().map(|record| format!("would add {record}"));
    let changed = changed.iter().map(|record| format!("would change {record}"));
    let key = |key: &NewKey| format!("would issue a key to user \"{}\" of \"{}\"", key.user, key.organization);
    let issued = preview.applied.issued.iter().map(key);
    let records = if unchanged == 1 { "record" } else { "records" };
    let left = format!("would leave {unchanged} {records} of the file as registered");
    let not_in_file = not_in_file.iter().map(|record| format!("not in the file: {record}"));
    added.chain(changed).chain(issued).chain([left]).chain(not_in_file).collect()
}
