//! The clauses of [`crate::operator::SetupRepository`] (decision P2).

use super::operator_scene::{a_new_operator, a_record, add};
use super::{Kept, Stores};
use crate::access::CredentialDigest;
use crate::testing::at;
use futures_util::future::try_join_all;

fn code(text: &str) -> CredentialDigest {
    CredentialDigest::of(text)
}

/// Every process offers a code of its own.
pub async fn a_code_counts_while_there_is_no_operator(stores: &Stores) -> Kept {
    let setup = &stores.setup;
    assert!(setup.offer(code("one"), at(10), at(0)).await? && setup.offer(code("two"), at(10), at(1)).await?);
    assert!(setup.is_offered(code("one"), at(9)).await? && setup.is_offered(code("two"), at(9)).await?);
    assert!(!setup.is_offered(code("three"), at(9)).await?);
    let wrong = setup.complete(code("three"), at(2), &a_new_operator("Eve"), &a_record("Eve")).await?;
    assert_eq!(wrong, None);
    let created = setup.complete(code("two"), at(2), &a_new_operator("Ann"), &a_record("Ann")).await?;
    assert_eq!(created.map(|operator| operator.name).as_deref(), Some("Ann"));
    assert!(!setup.is_offered(code("one"), at(3)).await?, "all codes are forgotten");
    assert!(!setup.offer(code("four"), at(10), at(3)).await?, "there is an operator");
    assert!(!setup.is_offered(code("four"), at(3)).await?);
    Ok(())
}

/// A code that was offered is worth nothing once another way has made an operator.
pub async fn a_code_expires_and_an_operator_ends_it(stores: &Stores) -> Kept {
    let setup = &stores.setup;
    setup.offer(code("one"), at(10), at(0)).await?;
    assert!(!setup.is_offered(code("one"), at(10)).await?);
    assert_eq!(setup.complete(code("one"), at(10), &a_new_operator("Ann"), &a_record("Ann")).await?, None);
    setup.offer(code("two"), at(30), at(20)).await?;
    add(stores, &a_new_operator("Bob")).await?;
    assert_eq!(setup.complete(code("two"), at(21), &a_new_operator("Ann"), &a_record("Ann")).await?, None);
    Ok(())
}

/// Also where each has a code of its own.
pub async fn of_concurrent_completions_one_succeeds(stores: &Stores) -> Kept {
    let setup = &stores.setup;
    for number in 0..8 {
        setup.offer(code(&number.to_string()), at(10), at(0)).await?;
    }
    let attempts = (0..8).map(|number| async move {
        let new = a_new_operator(&format!("Operator {number}"));
        setup.complete(code(&number.to_string()), at(1), &new, &a_record("first")).await
    });
    let created = try_join_all(attempts).await?;
    assert_eq!(created.iter().flatten().count(), 1, "{created:?}");
    Ok(())
}
