//! The former names of computers and devices. Their log entries keep the name of their receipt (ADR 16), by which a
//! timeline finds them (decision I12).

use super::batch::{CHUNK, find_in};
use crate::entity::former_name::{ActiveModel, Column, Entity, Model};
use domain::timeline::FORMER_NAMES;
use sea_orm::{ColumnTrait, ConnectionTrait, DbErr, EntityTrait, IntoActiveModel, ModelTrait, QueryFilter, QueryOrder};
use std::collections::{BTreeMap, HashMap};
use uuid::Uuid;

/// Stores the folded names that records of one kind had until now. The last [`FORMER_NAMES`] different names of each
/// record are kept.
pub(super) async fn store(db: &impl ConnectionTrait, kind: &str, names: BTreeMap<Uuid, String>) -> Result<(), DbErr> {
    let of_kind = Entity::find().filter(Column::Kind.eq(kind)).order_by_asc(Column::Number);
    let mut stored: HashMap<Uuid, Vec<Model>> = HashMap::new();
    for row in find_in(db, of_kind, Column::RecordGuid, names.keys().copied()).await? {
        stored.entry(row.record_guid).or_default().push(row);
    }
    let mut rows: Vec<ActiveModel> = Vec::with_capacity(names.len());
    for (record_guid, name_folded) in names {
        let former = stored.remove(&record_guid).unwrap_or_default();
        let number = former.last().map_or(1, |last| last.number + 1);
        let (mut replaced, others): (Vec<_>, Vec<_>) =
            former.into_iter().partition(|row| row.name_folded == name_folded);
        let excess = (others.len() + 1).saturating_sub(FORMER_NAMES);
        replaced.extend(others.into_iter().take(excess));
        for row in replaced {
            row.delete(db).await?;
        }
        rows.push(Model { kind: kind.to_owned(), record_guid, number, name_folded }.into_active_model());
    }
    for chunk in rows.chunks(CHUNK) {
        Entity::insert_many(chunk.to_vec()).exec_without_returning(db).await?;
    }
    Ok(())
}
