//! Info, PMM lookup and lists with few and with many resources: the cost must not grow with the store.

use crate::load;
use crate::platen::Platen;
use crate::postgres::Postgres;
use crate::requests::{self, RESOURCE_PREFIX, Resource};
use crate::samples::{Pairs, Samples};
use crate::scenarios::{Expected, Prepared};
use crate::stage::{Stage, say};
use crate::table::{Goal, Row, number};
use anyhow::{Context, Result};
use serde_json::json;
use std::collections::HashMap;
use std::sync::Arc;

/// Resources of the small store.
pub(super) const FEW: u64 = 10_000;

/// Resources of the type that the short list asks for, in both stores.
const LISTED: u64 = 1000;

/// Clients of info and PMM lookup.
const CLIENTS: usize = 8;

/// Distinct resources that are asked for.
const ASKED: u64 = 10_000;

/// Microseconds of each work, with many resources and with few; by the name of its row.
pub(crate) type Costs = HashMap<&'static str, Pairs>;

/// One of the four rows. They are measured together: the store grows only once.
pub(super) async fn row(stage: &Stage, name: &'static str) -> Result<Row> {
    if stage.scale.borrow().is_none() {
        let measured = measure(stage).await?;
        stage.scale.replace(Some(measured));
    }
    let costs = stage.scale.borrow();
    let pairs = costs.as_ref().and_then(|costs| costs.get(name)).context("this work was not measured")?.clone();
    let (work, goal) = match name {
        "scale-info" => (format!("time of an info, {CLIENTS} clients"), Goal::AtMost(1.3)),
        "scale-pmm" => (format!("time of a PMM lookup, {CLIENTS} clients"), Goal::AtMost(1.3)),
        "scale-list" => (format!("time of a list of {LISTED} of one type, 1 client"), Goal::None),
        _ => ("time of one item in the list of all, 1 client".to_owned(), Goal::None),
    };
    let many = stage.arguments.many();
    let note = if name == "scale-list-all" {
        format!("all {} in {:.1} s", number(many as f64), pairs.product.median() * many as f64 / 1e6)
    } else {
        String::new()
    };
    Ok(Row {
        name,
        work: format!("{work}, {} resources", number(many as f64)),
        unit: "µs",
        pairs,
        reference: format!("itself with {} resources", number(FEW as f64)),
        goal,
        note,
    })
}

async fn measure(stage: &Stage) -> Result<Costs> {
    let (postgres, server) = (stage.postgres().await?, stage.on_postgres().await?);
    fill(&postgres, &server, FEW).await?;
    let few = costs(stage, &server, FEW).await?;
    let many = stage.arguments.many();
    fill(&postgres, &server, many).await?;
    let mut costs = costs(stage, &server, many).await?;
    let pair = |(name, reference)| Some((name, Pairs { product: costs.remove(name)?, reference }));
    Ok(few.into_iter().filter_map(pair).collect())
}

/// Microseconds of each work with the store as it is.
async fn costs(stage: &Stage, server: &Platen, count: u64) -> Result<HashMap<&'static str, Samples>> {
    let mut costs: HashMap<&'static str, Samples> = HashMap::new();
    let mut note = |name: &'static str, cost: f64| {
        say(&format!("   {name} with {count}: {cost:.1} µs"));
        costs.entry(name).or_default().push(cost);
    };
    let mut of_type = Vec::new();
    requests::list(&mut of_type, "Label");
    let short = Prepared::of([0], Expected::AtLeast(LISTED * 100), |out, _| out.extend_from_slice(&of_type));
    let mut of_all = Vec::new();
    requests::list(&mut of_all, "*");
    let long = Prepared::of([0], Expected::AtLeast(count * 100), |out, _| out.extend_from_slice(&of_all));
    for _ in 0..stage.arguments.runs() {
        for (name, scenario) in [("scale-info", info_requests(count)), ("scale-pmm", pmm_requests(count))] {
            let (load, _) = stage.load(server, &[], CLIENTS, scenario).await?;
            note(name, CLIENTS as f64 * 1e6 / load.per_second);
        }
        let times: Samples = micros(load::each(server.address, 20, &*short).await?);
        note("scale-list", times.median());
        let times = micros(load::each(server.address, 1 + 20_000 / count, &*long).await?);
        note("scale-list-all", times.median() / count as f64);
    }
    Ok(costs)
}

fn micros(times: Vec<std::time::Duration>) -> Samples {
    times.into_iter().map(|time| time.as_secs_f64() * 1e6).collect()
}

/// Numbers spread over the whole store.
fn asked(count: u64) -> impl Iterator<Item = u64> {
    (0..ASKED).map(move |at| at * count / ASKED + 1)
}

pub(super) fn info_requests(count: u64) -> Arc<Prepared> {
    Prepared::of(asked(count), Expected::Holding("\"Meta\":{"), |out, number| {
        requests::info(out, &requests::resource(number));
    })
}

fn pmm_requests(count: u64) -> Arc<Prepared> {
    Prepared::of(asked(count), Expected::Holding("\"Meta\":{"), requests::pmm)
}

/// Brings the store to so many resources. A template is uploaded; the others are its row under other
/// GUIDs, names and PMM values, written by the database itself.
pub(super) async fn fill(postgres: &Postgres, server: &Platen, count: u64) -> Result<()> {
    let (first, last) = (requests::resource(1), requests::resource(0xff_ffff));
    let stored = postgres.sql(&format!("SELECT count(*) FROM resource WHERE guid BETWEEN '{first}' AND '{last}'"))?;
    let stored: u64 = stored.parse()?;
    if stored >= count {
        return Ok(());
    }
    say(&format!("   filling the store up to {count} resources"));
    let mut template = Resource::new(requests::resource(0), &requests::block(4096), 1);
    template.kind = "NormalProfile";
    template.meta = json!({
        "Name": "Resource NUMBER", "MediaType": "Media NUMBER", "ProfileGroup": "Group NUMBER",
        "Media": "Media NUMBER", "Mode": "Mode NUMBER"
    });
    server.store(&template).await?;
    postgres.sql(&copies(&template.guid, stored + 1, count))?;
    postgres.sql("VACUUM ANALYZE resource")?;
    Ok(())
}

/// SQL that writes the resources of these numbers. The first ones are of another type, so that there
/// is a list of the same length in every store.
fn copies(template: &str, first: u64, last: u64) -> String {
    let named = ["name", "name_sort", "meta", "profile_group_folded", "media_folded", "mode_folded"];
    let named = named.map(|column| format!("'{column}', regexp_replace(t.{column}, 'number', n::text, 'gi')"));
    format!(
        "INSERT INTO resource SELECT r.* FROM resource t, generate_series({first}, {last}) n,
         LATERAL jsonb_populate_record(t, jsonb_build_object(
            'guid', '{RESOURCE_PREFIX}' || lpad(to_hex(n), 12, '0'),
            'resource_type', CASE WHEN n <= {LISTED} THEN 'Label' ELSE t.resource_type END,
            'type_folded', CASE WHEN n <= {LISTED} THEN 'label' ELSE t.type_folded END,
            {})) r
         WHERE t.guid = '{template}'",
        named.join(", ")
    )
}
