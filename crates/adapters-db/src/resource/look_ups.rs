//! Many look-ups of resources, one question, on `PostgreSQL`.
//!
//! A look-up is cheap, a question isn't: two round trips through the pool, a plan to start, a thread to
//! wake. The task of each lane takes all look-ups that have gathered while its last question was answered and asks for
//! them together, over a connection of its own (ADR 26). A single look-up is asked for at once.
//! An answer is never older than its look-up: the question begins after it.

use super::OF_GUIDS;
use crate::core::Core;
use crate::entity::resource;
use crate::error::{store_error, unavailable};
use crate::lanes::{Closed, Lanes};
use crate::own_connection::OwnConnection;
use crate::turns::{Turn, Turns};
use domain::error::StoreError;
use futures_util::FutureExt;
use sea_orm::sqlx::postgres::PgRow;
use sea_orm::sqlx::{self, Row};
use sea_orm::{DbErr, RuntimeErr};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use uuid::Uuid;

/// Look-ups that wait for their question or are being asked at a time; who comes when they do waits for a place.
const PLACES: usize = 1024;

/// Look-ups of one question. A row may have a mebibyte of Meta, and all of an answer are held at once.
const TOGETHER: usize = 32;

/// Organization and GUID.
type Key = (i64, Uuid);

struct LookUp {
    key: Key,
    /// Kept until it is answered, whether or not somebody still waits: places and turns are as many.
    turn: Turn,
    found: oneshot::Sender<Result<Option<resource::Model>, StoreError>>,
}

/// The places and the tasks behind them.
pub(crate) struct LookUps {
    lanes: Lanes<LookUp>,
    turns: Arc<Turns>,
}

impl LookUps {
    pub(crate) fn new(core: &Core) -> Self {
        let options = core.reads.get_postgres_connection_pool().connect_options();
        let patience = core.patience;
        let lanes = Lanes::of_askers(Box::new(move |look_ups| {
            ask_all(OwnConnection::new(options.clone(), patience, "looking_up"), look_ups, patience).boxed()
        }));
        Self { lanes, turns: Turns::new(PLACES, patience / 2) }
    }

    /// The resource of an organization, waited for as long as it takes once it has a place.
    pub(crate) async fn find(&self, key: Key) -> Result<Option<resource::Model>, StoreError> {
        let closed = || unavailable("the database is closed");
        let turn = self.turns.take().await?;
        let (found, answer) = oneshot::channel();
        self.lanes.send(LookUp { key, turn, found }).map_err(|Closed| closed())?;
        answer.await.map_err(|_| closed())?
    }

    /// Answers what waits, takes nothing more, and ends.
    pub(crate) async fn close(&self) {
        self.lanes.close().await;
    }
}

async fn ask_all(mut connection: OwnConnection, mut look_ups: mpsc::UnboundedReceiver<LookUp>, patience: Duration) {
    let mut together = Vec::with_capacity(TOGETHER);
    while look_ups.recv_many(&mut together, TOGETHER).await > 0 {
        // Those who have gone away meanwhile need no answer.
        together.retain(|look_up| !look_up.found.is_closed());
        let found = timeout(patience, ask(&mut connection, &together)).await;
        match found.unwrap_or(Err(sqlx::Error::PoolTimedOut)) {
            Ok(found) => {
                for (look_up, found) in together.drain(..).zip(found) {
                    // Who has gone away doesn't hear it.
                    let _ = look_up.found.send(look_up.turn.ends(Ok(found)));
                }
            }
            Err(error) => {
                let error = DbErr::Query(RuntimeErr::SqlxError(Arc::new(error)));
                for look_up in together.drain(..) {
                    let _ = look_up.found.send(Err(store_error(error.clone())));
                }
            }
        }
    }
    connection.close().await;
}

/// What is found of each, in their order.
async fn ask(connection: &mut OwnConnection, look_ups: &[LookUp]) -> Result<Vec<Option<resource::Model>>, sqlx::Error> {
    let mut found = vec![None; look_ups.len()];
    if found.is_empty() {
        return Ok(found);
    }
    let (organizations, guids): (Vec<i64>, Vec<Uuid>) = look_ups.iter().map(|look_up| look_up.key).unzip();
    // A connection may have died since it was last used; a question may be asked again, once.
    for is_last in [false, true] {
        let mut held = connection.take().await?;
        let query = sqlx::query(OF_GUIDS).bind(&organizations).bind(&guids);
        let rows = query.fetch_all(&mut held.connection).await;
        connection.put_back(held, &rows);
        match rows {
            Ok(rows) => {
                for row in rows {
                    let place = usize::try_from(row.try_get::<i64, _>(0)? - 1).ok();
                    if let Some(found) = place.and_then(|place| found.get_mut(place)) {
                        *found = Some(model(&row)?);
                    }
                }
                break;
            }
            Err(error) if is_last || matches!(error, sqlx::Error::Database(_)) => return Err(error),
            Err(_) => {}
        }
    }
    Ok(found)
}

/// The columns of [`OF_GUIDS`]. Their types are those of the schema: looking at them again for each row takes half as long as
/// reading them.
fn model(row: &PgRow) -> Result<resource::Model, sqlx::Error> {
    Ok(resource::Model {
        organization_id: row.try_get_unchecked(1)?,
        guid: row.try_get_unchecked(2)?,
        resource_type: row.try_get_unchecked(3)?,
        type_folded: row.try_get_unchecked(4)?,
        checksum: row.try_get_unchecked(5)?,
        modified_at: row.try_get_unchecked(6)?,
        domain: row.try_get_unchecked(7)?,
        name: row.try_get_unchecked(8)?,
        name_folded: row.try_get_unchecked(9)?,
        meta: row.try_get_unchecked(10)?,
        meta_digest: row.try_get_unchecked(11)?,
        profile_group_folded: row.try_get_unchecked(12)?,
        media_folded: row.try_get_unchecked(13)?,
        mode_folded: row.try_get_unchecked(14)?,
        blob_key: row.try_get_unchecked(15)?,
        content_size: row.try_get_unchecked(16)?,
        previous_blob_key: row.try_get_unchecked(17)?,
    })
}
