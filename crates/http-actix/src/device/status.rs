//! Update the status of a device (interface 4.10).

use crate::call::{Call, to_its_end};
use crate::error::Fault;
use crate::openapi::description::Description;
use crate::openapi::schema::{closed_object, filled, guid, list_of, named, number, object, text, whole_number, words};
use crate::reply::Answer;
use domain::error::Reason;
use utoipa::openapi::schema::ObjectBuilder;

const UPDATED: &str = "Device status successfully updated";

pub(crate) async fn handle(mut call: Call<'_>) -> Result<Answer, Fault> {
    let body = call.json().await?;
    let (services, caller) = (call.services(), call.caller());
    to_its_end(async move { services.device_statuses.update(&caller, &body).await }).await?;
    Ok(Answer::success(UPDATED))
}

pub(crate) fn description() -> Description {
    let about = "Replaces the last status of the device whole: what the new one omits is gone. No content type is asked \
                 for.";
    let words_of_status = ["Error", "Idle", "Offline", "Printing", "Aborting", "Sleeping", "Calibrating"];
    let status = object("")
        .property("DeviceGUID", guid("A registered device."))
        .property("Status", words(&words_of_status))
        .property("Message", text("For people."))
        .property("Temperature", number("Of the heater, in degrees Celsius."))
        .property("ConnectionState", words(&["Online", "Offline", "Unstable"]))
        .property("ConnectionMessage", text("For people."))
        .property("RemainingInks", list_of(named("RemainingInk")))
        .property("QueueLength", named("QueueLength"))
        .required("DeviceGUID")
        .required("Status")
        .required("QueueLength");
    Description::new("Update the status of a device", about)
        .json_body("DeviceStatus", status)
        .with_schema("RemainingInk", remaining_ink())
        .with_schema("QueueLength", queue_length())
        .answers_message(UPDATED)
        .refuses([
            Reason::NotProperlyFormatted,
            Reason::JsonInvalid,
            Reason::DeviceGuidRequired,
            Reason::DeviceNotFound,
            Reason::StatusInvalid,
            Reason::TemperatureInvalid,
            Reason::ConnectionStateInvalid,
            Reason::RemainingInksInvalid,
            Reason::QueueLengthInvalid,
        ])
}

fn remaining_ink() -> ObjectBuilder {
    let members = [
        ("InkIndex", number("Place of the ink in the sequence.")),
        ("InkName", filled("Name of the colour.")),
        ("Level", number("ml in the tank; below 0 it is unknown.")),
        ("MaxLevel", number("ml that the tank holds.")),
    ];
    members.into_iter().fold(object(""), |ink, (name, schema)| ink.property(name, schema).required(name))
}

fn queue_length() -> ObjectBuilder {
    closed_object("One of the three. Zeros beside a positive one count as absent.")
        .property("Length", number("Units, roll to roll.").minimum(Some(0)))
        .property("Area", number("Square units, rigid.").minimum(Some(0)))
        .property("Sheets", whole_number("Sheets, sheet-fed.").minimum(Some(0)).maximum(Some(1_i64 << 53)))
        .min_properties(Some(1))
        .max_properties(Some(1))
}
