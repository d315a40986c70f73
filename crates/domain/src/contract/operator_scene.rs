//! Helpers for the clauses of operators, sessions, tokens and audit records.

use super::Stores;
use crate::access::CredentialDigest;
use crate::audit::{AuditAction, AuditedScope, AuditedValue, Author, NewAuditRecord};
use crate::error::StoreError;
use crate::operator::{AddOutcome, NewOperator, Operator, OperatorName, PasswordHash, Role, TokenId};
use crate::session::NewSession;
use crate::testing::at;
use crate::text::Folded;
use crate::timestamp::Timestamp;
use crate::token::NewToken;
use std::error::Error;

type Built<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// An admin of all organizations; an empty name stands for any admin.
pub(super) fn a_new_operator(name: &str) -> NewOperator {
    let name = OperatorName::parse(if name.is_empty() { "Operator" } else { name }).expect("a name");
    let password = PasswordHash::new(format!("hash of {name}"));
    NewOperator { name, role: Role::Admin, organization: None, password, created: at(0) }
}

/// A record about `target`.
pub(super) fn a_record(target: &str) -> NewAuditRecord {
    NewAuditRecord {
        at: at(0),
        author: Author::command("root"),
        scope: AuditedScope::All,
        action: AuditAction::OperatorAdded,
        target: target.to_owned(),
        values: vec![AuditedValue::added("role", "admin")],
    }
}

pub(super) async fn add(stores: &Stores, new: &NewOperator) -> Built<Operator> {
    match stores.operators.add(new, &a_record(new.name.as_str())).await? {
        AddOutcome::Added(operator) => Ok(operator),
        refused => Err(format!("{} isn't added: {refused:?}", new.name).into()),
    }
}

pub(super) async fn found(stores: &Stores, name: &str) -> Result<Option<Operator>, StoreError> {
    Ok(stores.operators.find(&Folded::of(name)).await?.map(|found| found.operator))
}

/// A session by the password of [`a_new_operator`].
pub(super) fn a_session(operator: &Operator, secret: &str) -> NewSession {
    let password = PasswordHash::new(format!("hash of {}", operator.name));
    NewSession { digest: CredentialDigest::of(secret), operator: operator.id, password, started: at(0) }
}

/// Begins a session at the moment from which tests count.
pub(super) async fn begin(stores: &Stores, operator: &Operator, secret: &str) -> Built<CredentialDigest> {
    let session = a_session(operator, secret);
    assert!(stores.sessions.add(&session, &a_record("session")).await?, "the operator is there");
    Ok(session.digest)
}

pub(super) async fn issue(
    stores: &Stores,
    operator: &Operator,
    name: &str,
    issued: Timestamp,
) -> Built<(NewToken, TokenId)> {
    let new = NewToken {
        digest: CredentialDigest::of(&format!("token {name}")),
        operator: operator.id,
        name: OperatorName::parse(name)?,
        role: Role::Viewer,
        issued,
        expires: at(1_000),
    };
    let id = stores.tokens.add(&new, &a_record(name)).await?.ok_or("the operator is there")?;
    Ok((new, id))
}
