//! Authentication: from the credentials of a request to its caller.

#[cfg(test)]
mod tests;

use super::credentials::Sent;
use super::{CredentialDigest, CredentialDirectory, KeyHolder, KeyUses, RegisteredComputer, SentCredentials};
use crate::caller::{Caller, OrganizationId};
use crate::error::{Failure, Outcome, Reason, RequiredHeader, StoreError};
use crate::guid::ComputerGuid;
use crate::text::{Folded, cut, storable};
use std::sync::Arc;

/// Longest application version that is kept, in characters (decision A7).
const MAX_VERSION: usize = 64;

/// Which messages an operation answers to bad credentials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CredentialMessages {
    /// All operations but the crash report (decision A2).
    Common,
    /// The crash report, which names each header (decision A5).
    CrashReport,
}

/// Why authentication failed.
#[derive(Debug)]
pub struct AuthenticationFailure {
    pub failure: Failure,
    /// The computer whose `HardwareHash` was sent, if it is registered. It is for the operator: no response depends on
    /// it.
    pub computer: Option<ClaimedComputer>,
}

impl AuthenticationFailure {
    /// The `HardwareHash` is registered, but doesn't authenticate this request.
    fn of_computer(found: &RegisteredComputer, reason: Reason, detail: &str) -> Self {
        let computer = ClaimedComputer { organization: found.organization, guid: found.computer.guid };
        Self { failure: reason.because(detail), computer: Some(computer) }
    }

    /// Whether a credential was looked up and isn't valid. A failed or overloaded store, and another header that is
    /// missing, say nothing about the credentials.
    #[must_use]
    pub fn is_wrong(&self) -> bool {
        let Failure::Refused(refusal) = &self.failure else {
            return false;
        };
        !matches!(
            refusal.reason,
            Reason::HeadersRequired
                | Reason::Overloaded
                | Reason::CrashHeaderRequired(RequiredHeader::SerialNumber | RequiredHeader::ApplicationVersion)
        )
    }
}

/// The computer whose `HardwareHash` was sent, although authentication failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClaimedComputer {
    pub organization: OrganizationId,
    pub guid: ComputerGuid,
}

impl From<Failure> for AuthenticationFailure {
    fn from(failure: Failure) -> Self {
        Self { failure, computer: None }
    }
}

impl From<StoreError> for AuthenticationFailure {
    fn from(error: StoreError) -> Self {
        Failure::from(error).into()
    }
}

/// The use case of authentication.
pub struct AccessService {
    directory: Arc<dyn CredentialDirectory>,
    key_uses: Option<Arc<KeyUses>>,
}

impl AccessService {
    /// Looks credentials up in `directory`.
    #[must_use]
    pub fn new(directory: Arc<dyn CredentialDirectory>) -> Self {
        Self { directory, key_uses: None }
    }

    /// Records the uses of valid keys in `key_uses`.
    #[must_use]
    pub fn noting(self, key_uses: Arc<KeyUses>) -> Self {
        Self { key_uses: Some(key_uses), ..self }
    }

    /// The caller to whom these headers belong, or the refusal in the form of `messages`.
    ///
    /// # Errors
    /// The 401 reasons of decisions A2–A5, or a store failure.
    pub async fn authenticate(
        &self,
        sent: &SentCredentials,
        messages: CredentialMessages,
    ) -> Result<Caller, AuthenticationFailure> {
        let headers = Headers::read(sent);
        match messages {
            CredentialMessages::Common => self.authenticate_common(headers).await,
            CredentialMessages::CrashReport => self.authenticate_crash_report(headers).await,
        }
    }

    async fn authenticate_common(&self, headers: Headers<'_>) -> Result<Caller, AuthenticationFailure> {
        let missing = headers.missing();
        if !missing.is_empty() {
            return Err(Reason::HeadersRequired.because(format!("missing or empty: {}", missing.join(", "))).into());
        }
        let key_holder = self.find_key_holder(headers.mis_key).await?;
        if headers.mis_key != Sent::Missing && key_holder.is_none() {
            return Err(Reason::MisKeyInvalid.because(unknown("MisKey", headers.mis_key)).into());
        }
        self.find_caller(headers, key_holder, Reason::HardwareHashInvalid).await
    }

    async fn authenticate_crash_report(&self, headers: Headers<'_>) -> Result<Caller, AuthenticationFailure> {
        let key_holder = self.find_key_holder(headers.mis_key).await?;
        let hash_missing = headers.hardware_hash == Sent::Missing && key_holder.is_none();
        let required = [
            (hash_missing, RequiredHeader::HardwareHash, "HardwareHash"),
            (headers.serial_number == Sent::Missing, RequiredHeader::SerialNumber, "SerialNumber"),
            (headers.application_version.is_none(), RequiredHeader::ApplicationVersion, "ApplicationVersion"),
        ];
        if let Some((_, header, name)) = required.into_iter().find(|(missing, ..)| *missing) {
            let also = if headers.mis_key == Sent::Missing { "" } else { "; the MisKey that was sent is not valid" };
            let also = if header == RequiredHeader::HardwareHash { also } else { "" };
            return Err(Reason::CrashHeaderRequired(header).because(format!("missing or empty: {name}{also}")).into());
        }
        self.find_caller(headers, key_holder, Reason::CrashHardwareHashInvalid).await
    }

    async fn find_key_holder(&self, mis_key: Sent<'_>) -> Outcome<Option<KeyHolder>> {
        match mis_key {
            Sent::One(key) => {
                let digest = CredentialDigest::of(key);
                let holder = self.directory.find_key_holder(digest).await?;
                if let (Some(_), Some(uses)) = (&holder, &self.key_uses) {
                    uses.note(digest);
                }
                Ok(holder)
            }
            Sent::Missing | Sent::Differing { .. } => Ok(None),
        }
    }

    /// The caller, or a failure for the reason `invalid` if the `HardwareHash` isn't valid.
    async fn find_caller(
        &self,
        headers: Headers<'_>,
        key_holder: Option<KeyHolder>,
        invalid: Reason,
    ) -> Result<Caller, AuthenticationFailure> {
        let computer = self.find_computer(headers, invalid).await?;
        headers.caller(key_holder, computer, invalid)
    }

    /// The computer of the `HardwareHash`; `None` if none was sent.
    async fn find_computer(
        &self,
        headers: Headers<'_>,
        invalid: Reason,
    ) -> Result<Option<RegisteredComputer>, AuthenticationFailure> {
        let found = match headers.hardware_hash {
            Sent::Missing => return Ok(None),
            Sent::Differing { .. } => None,
            Sent::One(hash) => self.directory.find_computer(CredentialDigest::of(hash)).await?,
        };
        let Some(computer) = found else {
            return Err(invalid.because(unknown("HardwareHash", headers.hardware_hash)).into());
        };
        let detail = match headers.serial_number {
            Sent::One(serial) if Folded::of(serial) == computer.serial_number => return Ok(Some(computer)),
            Sent::Differing { .. } => "SerialNumber was sent several times with different values",
            _ => "HardwareHash is registered under another SerialNumber",
        };
        Err(AuthenticationFailure::of_computer(&computer, invalid, detail))
    }
}

/// The headers after decision A8.
#[derive(Clone, Copy)]
struct Headers<'a> {
    mis_key: Sent<'a>,
    hardware_hash: Sent<'a>,
    serial_number: Sent<'a>,
    application_version: Option<&'a str>,
}

impl<'a> Headers<'a> {
    fn read(sent: &'a SentCredentials) -> Self {
        Self {
            mis_key: Sent::read(&sent.mis_key),
            hardware_hash: Sent::read(&sent.hardware_hash),
            serial_number: Sent::read(&sent.serial_number),
            application_version: sent.application_version(),
        }
    }

    fn missing(&self) -> Vec<&'static str> {
        let no_credential = self.mis_key == Sent::Missing && self.hardware_hash == Sent::Missing;
        let missing = [
            (no_credential, "MisKey or HardwareHash"),
            (self.serial_number == Sent::Missing, "SerialNumber"),
            (self.application_version.is_none(), "ApplicationVersion"),
        ];
        missing.into_iter().filter_map(|(missing, name)| missing.then_some(name)).collect()
    }

    /// Combines the key holder and the computer, which must be of one organization (decision A4).
    fn caller(
        self,
        key: Option<KeyHolder>,
        computer: Option<RegisteredComputer>,
        invalid: Reason,
    ) -> Result<Caller, AuthenticationFailure> {
        let (organization, organization_name) = match (&key, &computer) {
            (Some(key), Some(computer)) if key.organization != computer.organization => {
                let detail = "MisKey and HardwareHash are not of one organization";
                return Err(AuthenticationFailure::of_computer(computer, invalid, detail));
            }
            (Some(key), _) => (key.organization, key.organization_name.clone()),
            (None, Some(computer)) => (computer.organization, computer.organization_name.clone()),
            (None, None) => return Err(invalid.because("no valid credential was sent").into()),
        };
        let serial_number = self.serial_number.first().unwrap_or_default();
        // With a computer the whole serial number was compared; with a MisKey alone the first counts (decision A8).
        let serial_number = match &computer {
            Some(_) => serial_number,
            None => serial_number.split(',').next().unwrap_or_default().trim(),
        };
        Ok(Caller {
            organization,
            organization_name,
            user: key.map(|key| key.user),
            computer: computer.map(|found| found.computer),
            serial_number: storable(serial_number),
            application_version: cut(&storable(self.application_version.unwrap_or_default()), MAX_VERSION),
        })
    }
}

/// The detail for a credential that isn't registered; it never shows the credential (decision A9).
fn unknown(header: &str, sent: Sent<'_>) -> String {
    match sent {
        Sent::Differing { .. } => format!("{header} was sent several times with different values"),
        _ => format!("{header} is not registered or was revoked"),
    }
}
