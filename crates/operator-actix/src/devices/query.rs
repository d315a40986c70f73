//! Which devices to list.

use domain::device_board::{Attention, DeviceFilter, DeviceSort};
use domain::device_status::Status;
use domain::operator::{Actor, OperatorError, OrganizationList};
use serde::Deserialize;
use utoipa::IntoParams;

/// Which devices, and in which order: all that fit every condition. An empty value is no condition.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub struct DeviceQuery {
    /// Only devices of this organization.
    pub organization: String,
    /// Only devices whose last status is one of these, such as `Error,Offline`.
    pub status: String,
    /// `true`: only silent devices, whose last status is too old; `false`: only others.
    #[param(value_type = Option<bool>)]
    pub silent: String,
    /// `true`: only devices that ever sent a status; `false`: only others.
    #[param(value_type = Option<bool>)]
    pub seen: String,
    /// Only devices that need somebody for this reason: `error`, `offline`, `silent`, `low_ink`, or `fine` for none.
    pub attention: String,
    /// Only devices whose name holds this text.
    pub q: String,
    /// `attention` (default) or `name`.
    pub sort: String,
}

impl DeviceQuery {
    /// What it asks for.
    ///
    /// # Errors
    /// [`OperatorError::Invalid`] for a value that can't be used, [`OperatorError::NotFound`] for an organization that
    /// the actor doesn't see.
    pub async fn read(
        &self,
        actor: &Actor,
        organizations: &OrganizationList,
    ) -> Result<(DeviceFilter, DeviceSort), OperatorError> {
        let named = given(&self.organization);
        let filter = DeviceFilter {
            statuses: self.statuses()?,
            silent: flag("silent", &self.silent)?,
            seen: flag("seen", &self.seen)?,
            attention: word("attention", &self.attention, Attention::parse)?,
            search: given(&self.q).map(str::to_owned),
            organization: organizations.narrow(actor, named).await?,
        };
        Ok((filter, word("sort", &self.sort, DeviceSort::parse)?.unwrap_or_default()))
    }

    fn statuses(&self) -> Result<Vec<Status>, OperatorError> {
        let words = self.status.split(',').filter_map(given);
        words.map(|word| Status::parse(word).ok_or_else(|| unknown("status"))).collect()
    }
}

fn given(text: &str) -> Option<&str> {
    Some(text.trim()).filter(|text| !text.is_empty())
}

fn flag(field: &'static str, text: &str) -> Result<Option<bool>, OperatorError> {
    let must_be = || OperatorError::invalid(field, "must be true or false");
    given(text).map(|text| text.parse().map_err(|_| must_be())).transpose()
}

fn word<T>(field: &'static str, text: &str, parse: fn(&str) -> Option<T>) -> Result<Option<T>, OperatorError> {
    given(text).map(|text| parse(text).ok_or_else(|| unknown(field))).transpose()
}

fn unknown(field: &'static str) -> OperatorError {
    OperatorError::invalid(field, "is not one of the words that are documented")
}
