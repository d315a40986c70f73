//! PMM info lookup (interface 4.6).

use super::info;
use crate::call::Call;
use crate::error::Fault;
use crate::reply::Answer;

pub(crate) async fn handle(mut call: Call<'_>) -> Result<Answer, Fault> {
    let body = call.json().await?;
    let resource = call.shared.services.resources.find_by_pmm(&call.admission.caller, &body).await?;
    Ok(info::answer(&resource))
}
