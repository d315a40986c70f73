//! The clauses of [`crate::session::SessionRepository`] (decision P3).

use super::operator_scene::{a_new_operator, a_record, a_session, add, begin, found};
use super::{Kept, Stores};
use crate::access::CredentialDigest;
use crate::operator::PasswordHash;
use crate::session::{NewSession, Session};
use crate::testing::at;

/// The sign-in is noted with its operator.
pub async fn a_session_is_found_with_its_operator(stores: &Stores) -> Kept {
    let ann = add(stores, &a_new_operator("Ann")).await?;
    let new = NewSession { started: at(5), ..a_session(&ann, "secret") };
    let digest = new.digest;
    assert!(stores.sessions.add(&new, &a_record("session")).await?);
    let (session, operator) = stores.sessions.find(digest).await?.ok_or("not found")?;
    assert_eq!(session, Session { started: at(5), last_used: at(5) });
    assert_eq!((operator.id, operator.last_sign_in), (ann.id, Some(at(5))));
    assert_eq!(found(stores, "Ann").await?, Some(operator));
    assert_eq!(stores.sessions.find(CredentialDigest::of("another")).await?, None);
    stores.operators.remove(ann.id, &a_record("gone")).await?;
    assert!(!stores.sessions.add(&a_session(&ann, "late"), &a_record("")).await?);
    Ok(())
}

/// The password may be changed between its check and the beginning of the session.
pub async fn a_session_does_not_begin_with_a_former_password(stores: &Stores) -> Kept {
    let ann = add(stores, &a_new_operator("Ann")).await?;
    let late = a_session(&ann, "late");
    stores.operators.set_password(ann.id, &PasswordHash::new("new".to_owned()), &a_record("set")).await?;
    assert!(!stores.sessions.add(&late, &a_record("")).await?);
    assert!(stores.sessions.find(late.digest).await?.is_none());
    Ok(())
}

/// The last use never goes back.
pub async fn the_last_use_of_a_session_is_kept(stores: &Stores) -> Kept {
    let ann = add(stores, &a_new_operator("Ann")).await?;
    let digest = begin(stores, &ann, "secret").await?;
    for second in [20, 10] {
        stores.sessions.note_use(digest, at(second)).await?;
    }
    stores.sessions.note_use(CredentialDigest::of("another"), at(30)).await?;
    let (session, _) = stores.sessions.find(digest).await?.ok_or("not found")?;
    assert_eq!(session, Session { started: at(0), last_used: at(20) });
    Ok(())
}

/// The others go on.
pub async fn an_ended_session_is_gone(stores: &Stores) -> Kept {
    let ann = add(stores, &a_new_operator("Ann")).await?;
    let [one, other] = [begin(stores, &ann, "one").await?, begin(stores, &ann, "two").await?];
    assert!(stores.sessions.remove(one, &a_record("end")).await?);
    assert!(!stores.sessions.remove(one, &a_record("again")).await?);
    assert!(stores.sessions.find(one).await?.is_none() && stores.sessions.find(other).await?.is_some());
    Ok(())
}

/// By the last use, and by the beginning.
pub async fn old_sessions_are_pruned(stores: &Stores) -> Kept {
    let ann = add(stores, &a_new_operator("Ann")).await?;
    let [idle, busy] = [begin(stores, &ann, "idle").await?, begin(stores, &ann, "busy").await?];
    stores.sessions.note_use(busy, at(100)).await?;
    assert_eq!(stores.sessions.prune(at(50), at(-1)).await?, 1);
    assert!(stores.sessions.find(idle).await?.is_none() && stores.sessions.find(busy).await?.is_some());
    assert_eq!(stores.sessions.prune(at(50), at(0)).await?, 1);
    assert!(stores.sessions.find(busy).await?.is_none());
    Ok(())
}
