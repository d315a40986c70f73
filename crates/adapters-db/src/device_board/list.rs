//! Lists and counts of devices.

use crate::convert::Owner;
use crate::entity::{device, device_status};
use crate::text_filter::holds;
use domain::caller::OrganizationId;
use domain::device_board::{Attention, DeviceCursor, DeviceFilter, DeviceSort, DeviceTally, LOW_INK, Moment};
use domain::device_status::Status;
use domain::error::StoreError;
use domain::guid::DeviceGuid;
use domain::page::PageRequest;
use sea_orm::sea_query::{CaseStatement, Expr, ExprTrait};
use sea_orm::{
    ColumnTrait, DbBackend, DbErr, EntityTrait, FromQueryResult, JoinType, Order, QueryFilter, QueryOrder, QueryResult,
    QuerySelect, QueryTrait, RelationTrait, Select, SelectTwo, Statement,
};

/// A device with its status, if it has one.
pub(super) struct Row {
    pub(super) device: device::Model,
    pub(super) status: Option<device_status::Model>,
}

impl FromQueryResult for Row {
    /// Reads the columns of a select of two entities, which sea-orm names `A_…` and `B_…`.
    fn from_query_result(row: &QueryResult, _: &str) -> Result<Self, DbErr> {
        Ok(Self {
            device: device::Model::from_query_result(row, "A_")?,
            status: device_status::Model::from_query_result_optional(row, "B_")?,
        })
    }
}

type Devices = SelectTwo<device::Entity, device_status::Entity>;

fn live(organization: Option<OrganizationId>) -> Devices {
    device::Entity::find()
        .find_also_related(device_status::Entity)
        .filter(device::Column::RetiredAt.is_null())
        .apply_if(organization, |select, organization| select.filter(device::Column::OrganizationId.eq(organization.0)))
}

pub(super) fn find(organization: Option<OrganizationId>, guid: DeviceGuid, backend: DbBackend) -> Statement {
    live(organization).filter(device::Column::Guid.eq(guid.as_uuid())).build(backend)
}

pub(super) fn page(
    filter: &DeviceFilter,
    sort: DeviceSort,
    moment: Moment,
    asked: &PageRequest<DeviceCursor>,
    backend: DbBackend,
) -> Statement {
    let by_attention = sort == DeviceSort::Attention;
    let select = matching(filter, moment, backend).apply_if(asked.after.as_ref(), |select, after| {
        let rank = by_attention.then(|| (attention(moment), Expr::val(rank(after.attention))));
        let name = (device::Column::Name.into_expr(), Expr::val(after.name.as_str()));
        let guid = (device::Column::Guid.into_expr(), Expr::val(after.guid.as_uuid()));
        let (columns, values): (Vec<Expr>, Vec<Expr>) = rank.into_iter().chain([name, guid]).unzip();
        select.filter(Expr::tuple(columns).gt(Expr::tuple(values)))
    });
    select
        .apply_if(by_attention.then(|| attention(moment)), |select, rank| select.order_by(rank, Order::Asc))
        .order_by_asc(device::Column::Name)
        .order_by_asc(device::Column::Guid)
        .limit(asked.rows())
        .build(backend)
}

fn matching(filter: &DeviceFilter, moment: Moment, backend: DbBackend) -> Devices {
    let statuses: Vec<&str> = filter.statuses.iter().map(|status| status.as_str()).collect();
    let seen = || device_status::Column::ReceivedAt.is_not_null();
    let is_silent = || device_status::Column::ReceivedAt.lt(moment.silent_before.as_micros());
    live(filter.organization)
        .apply_if((!statuses.is_empty()).then_some(statuses), |select, statuses| {
            select.filter(device_status::Column::Status.is_in(statuses))
        })
        .apply_if(filter.silent, |select, silent| {
            select.filter(if silent { is_silent() } else { seen().not().or(is_silent().not()) })
        })
        .apply_if(filter.seen, |select, is_seen| select.filter(if is_seen { seen() } else { seen().not() }))
        .apply_if(filter.attention, |select, wanted| select.filter(attention(moment).eq(rank(wanted))))
        .apply_if(filter.search.as_deref(), |select, text| {
            select.filter(holds(device::Column::Name.into_expr(), text, backend))
        })
}

/// The [`rank`] of the attention of a device in SQL, by the rules of
/// [`domain::device_board::BoardDevice::attention`].
fn attention(moment: Moment) -> Expr {
    use device_status::Column::{EmptiesAt, LowestInk, ReceivedAt, Status as Last};
    let is = |status: Status| Last.eq(status.as_str());
    let is_low = LowestInk.lt(LOW_INK).or(EmptiesAt.lt(moment.soon().as_micros()));
    let number = |attention| Expr::val(rank(attention));
    let case = CaseStatement::new()
        .case(ReceivedAt.is_null(), number(Attention::Fine))
        .case(ReceivedAt.lt(moment.silent_before.as_micros()), number(Attention::Silent))
        .case(is(Status::Error), number(Attention::Error))
        .case(is(Status::Offline), number(Attention::Offline))
        .case(is_low, number(Attention::LowInk))
        .finally(number(Attention::Fine));
    Expr::expr(case)
}

/// The number that lists are sorted by.
fn rank(attention: Attention) -> i32 {
    match attention {
        Attention::Error => 0,
        Attention::Offline => 1,
        Attention::Silent => 2,
        Attention::LowInk => 3,
        Attention::Fine => 4,
    }
}

/// Counts devices by attention and status.
pub(super) fn count(organization: Option<OrganizationId>, moment: Moment) -> Select<device::Entity> {
    device::Entity::find()
        .select_only()
        .expr_as(attention(moment), "attention")
        .column(device_status::Column::Status)
        .column_as(device::Column::Guid.count(), "devices")
        .join(JoinType::LeftJoin, device::Relation::Status.def())
        .filter(device::Column::RetiredAt.is_null())
        .apply_if(organization, |select, organization| select.filter(device::Column::OrganizationId.eq(organization.0)))
        .group_by(Expr::col("attention"))
        .group_by(device_status::Column::Status)
}

/// The number of devices with one attention and status.
#[derive(FromQueryResult)]
pub(super) struct Counted {
    attention: i32,
    status: Option<String>,
    devices: i64,
}

impl Counted {
    pub(super) fn tally(self) -> Result<DeviceTally, StoreError> {
        let owner = Owner { what: "count of devices", id: &self.attention };
        let attention = Attention::ALL.into_iter().find(|attention| rank(*attention) == self.attention);
        Ok(DeviceTally {
            attention: owner.need(attention)?,
            status: self.status.as_deref().map(|word| owner.need(Status::parse(word))).transpose()?,
            devices: owner.size(self.devices)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::engines;
    use domain::device_status::SILENT_AFTER;
    use domain::timestamp::Timestamp;

    const DEVICES: [&str; 3] = [
        "INSERT INTO organization (id, name, publisher) VALUES (1, 'One', false), (2, 'Two', false)",
        "INSERT INTO device (guid, organization_id, name)
            WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 3000)
            SELECT {guid}, 1 + n % 2, 'Device ' || n FROM numbers",
        "INSERT INTO device_status (organization_id, device_guid, received_at, status, remaining_inks, queue_measure,
            queue_amount) SELECT organization_id, guid, 1000000, 'Idle', '[]', 'Length', '0' FROM device",
    ];

    fn moment() -> Moment {
        Moment::new(Timestamp::from_micros(2_000_000_000), SILENT_AFTER)
    }

    #[tokio::test]
    async fn lists_by_name_are_read_in_the_order_of_an_index() {
        for engine in engines().await {
            let backend = engine.db().backend;
            let guid = if engine.name == "SQLite" { "randomblob(16)" } else { "md5(n::text)::uuid" };
            for sql in DEVICES {
                engine.run(&sql.replace("{guid}", guid)).await;
            }
            engine.run("ANALYZE").await;
            let after = DeviceCursor { attention: Attention::Fine, name: "Device 2".to_owned(), guid: uuid(7).into() };
            for (index, organization) in
                [("device_by_name_anywhere", None), ("device_by_name", Some(OrganizationId(1)))]
            {
                let filter = DeviceFilter { organization, ..DeviceFilter::default() };
                for after in [None, Some(after.clone())] {
                    let asked = PageRequest { after, limit: 50 };
                    let page = page(&filter, DeviceSort::Name, moment(), &asked, backend);
                    let plan = engine.plan(page).await;
                    assert!(plan.contains(index), "{}:\n{plan}", engine.name);
                    assert!(!plan.contains("Sort") && !plan.contains("TEMP B-TREE"), "{}:\n{plan}", engine.name);
                }
                // Each device is looked at once, and its status found by the key.
                let asked = PageRequest { after: None, limit: 50 };
                let by_attention = engine.plan(page(&filter, DeviceSort::Attention, moment(), &asked, backend)).await;
                let key =
                    if engine.name == "SQLite" { "sqlite_autoindex_device_status_1" } else { "device_status_pkey" };
                assert!(by_attention.contains(key), "{}:\n{by_attention}", engine.name);
            }
        }
    }

    fn uuid(number: u128) -> uuid::Uuid {
        uuid::Uuid::from_u128(number)
    }
}
