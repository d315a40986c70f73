//! An admitted request in the hands of its handler, and the one place that names all handlers.

use crate::admission::Admission;
use crate::error::Fault;
use crate::exchange::Exchange;
use crate::extract::multipart::MultipartParts;
use crate::intake::Intake;
use crate::reply::{Answer, Content};
use crate::route::Operation;
use crate::server::{Services, Shared};
use crate::{device, docs, extract, health, log, resource, server_status};
use actix_web::dev::RequestHead;
use domain::body::BodyError;
use domain::caller::Caller;
use domain::error::{Failure, Outcome, Reason, StoreError};
use serde::de::DeserializeOwned;
use std::rc::Rc;
use std::sync::Arc;

/// What a handler works with.
pub(crate) struct Call<'a> {
    pub(crate) shared: &'a Shared,
    pub(crate) exchange: &'a Exchange,
    pub(crate) head: &'a RequestHead,
    pub(crate) intake: &'a mut Intake,
    pub(crate) admission: Admission,
}

/// Calls the handler of the operation.
pub(crate) async fn handle(call: Call<'_>) -> Result<Answer, Fault> {
    match call.admission.operation {
        Operation::ServerStatus => Ok(server_status::handle()),
        // Large beside the others, which would carry its size.
        Operation::AddResource => Box::pin(resource::add::handle(call)).await,
        Operation::GetFile => resource::get_file::handle(call).await,
        Operation::DeleteResource => resource::delete::handle(call).await,
        Operation::ListResources => resource::list::handle(call).await,
        Operation::ResourceInfo => resource::info::handle(call).await,
        Operation::FindByPmm => resource::pmm::handle(call).await,
        Operation::AddLog => log::add::handle(call).await,
        Operation::ListLogs => log::list::handle(call).await,
        Operation::AddCrashReport => Box::pin(log::crash_report::handle(call)).await,
        Operation::UpdateDeviceStatus => device::status::handle(call).await,
        open => handle_open(open, call.shared, call.head).await,
    }
}

/// Calls the handler of an operation that asks for no credentials.
pub(crate) async fn handle_open(operation: Operation, shared: &Shared, head: &RequestHead) -> Result<Answer, Fault> {
    match operation {
        Operation::Document => Ok(Answer::json(Content::Whole(shared.document.clone()))),
        Operation::Docs(page) => docs::answer(page, head.uri.path()),
        other => health::handle(other, shared).await,
    }
}

impl Call<'_> {
    pub(crate) fn services(&self) -> Arc<Services> {
        Arc::clone(&self.shared.services)
    }

    pub(crate) fn caller(&self) -> Rc<Caller> {
        Rc::clone(&self.admission.caller)
    }

    /// The GUID that the path names.
    pub(crate) fn guid(&self) -> &str {
        self.admission.guid.as_deref().unwrap_or_default()
    }

    /// The whole body as JSON.
    pub(crate) async fn json<T: DeserializeOwned + Default>(&mut self) -> Outcome<T> {
        let limit = self.shared.config.limits.max_json_size;
        let text = self.intake.collect(self.admission.coding, limit).await.map_err(json_failure)?;
        extract::json::parse(&text).map_err(|error| Reason::JsonInvalid.because(error))
    }

    /// The parts of the body.
    pub(crate) fn parts(&mut self) -> MultipartParts {
        MultipartParts::new(self.intake.open(self.admission.coding), self.admission.boundary.clone())
    }
}

/// A JSON body that breaks off or can't be decoded isn't valid JSON.
fn json_failure(error: BodyError) -> Failure {
    match error {
        BodyError::Malformed(detail) => Reason::JsonInvalid.because(detail),
        other => other.into(),
    }
}

/// Runs what has effects to its end, even if the client hangs up meanwhile.
pub(crate) async fn to_its_end<T: 'static>(work: impl Future<Output = Outcome<T>> + 'static) -> Outcome<T> {
    match actix_rt::spawn(work).await {
        Ok(outcome) => outcome,
        // What the task says of a panic repeats its message (ADR 49).
        Err(_) => Err(StoreError::other("the operation panicked").into()),
    }
}
