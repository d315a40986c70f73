//! Many rows with few statements.

use sea_orm::sea_query::OnConflict;
use sea_orm::{
    ActiveModelTrait, ColumnTrait, ConnectionTrait, DbErr, DeleteMany, EntityTrait, IntoActiveModel, QueryFilter,
    QueryTrait, Select, TryGetable, Value,
};
use std::collections::HashSet;
use std::hash::Hash;

/// Rows, or values of a list, of one statement.
pub(super) const CHUNK: usize = 500;

/// The rows of `select` whose `column` is one of `values`.
pub(super) async fn find_in<E, V>(
    db: &impl ConnectionTrait,
    select: Select<E>,
    column: E::Column,
    values: impl IntoIterator<Item = V>,
) -> Result<Vec<E::Model>, DbErr>
where
    E: EntityTrait,
    V: Into<Value>,
{
    let values: Vec<Value> = values.into_iter().map(Into::into).collect();
    let mut found = Vec::new();
    for chunk in values.chunks(CHUNK) {
        found.extend(select.clone().filter(column.is_in(chunk.iter().cloned())).all(db).await?);
    }
    Ok(found)
}

/// Deletes those rows of `delete` whose `column` is one of `values`.
pub(super) async fn delete_in<E, V>(
    db: &impl ConnectionTrait,
    delete: DeleteMany<E>,
    column: E::Column,
    values: impl IntoIterator<Item = V>,
) -> Result<(), DbErr>
where
    E: EntityTrait,
    V: Into<Value>,
{
    let values: Vec<Value> = values.into_iter().map(Into::into).collect();
    for chunk in values.chunks(CHUNK) {
        delete.clone().filter(column.is_in(chunk.iter().cloned())).exec(db).await?;
    }
    Ok(())
}

/// Inserts or updates rows; gives the `column` of those that the database wrote. What `on_conflict`
/// leaves alone isn't among them.
pub(super) async fn put<A, V>(
    db: &impl ConnectionTrait,
    rows: &[A],
    on_conflict: &OnConflict,
    column: <A::Entity as EntityTrait>::Column,
) -> Result<HashSet<V>, DbErr>
where
    A: ActiveModelTrait + Clone,
    <A::Entity as EntityTrait>::Model: IntoActiveModel<A>,
    A::Entity: EntityTrait<ActiveModel = A>,
    V: TryGetable + Eq + Hash,
{
    let mut written = HashSet::new();
    for chunk in rows.chunks(CHUNK) {
        let insert = <A::Entity as EntityTrait>::insert_many(chunk.to_vec()).on_conflict(on_conflict.clone());
        let mut insert = insert.into_query();
        for row in db.query_all(insert.returning_col(column)).await? {
            written.insert(row.try_get_by_index(0)?);
        }
    }
    Ok(written)
}
