//! The clauses of [`crate::token::TokenRepository`] (decision P6).

use super::operator_scene::{a_new_operator, a_record, add, issue};
use super::scene::two_organizations;
use super::{Kept, Stores};
use crate::operator::{NewOperator, Role, Scope, TokenId};
use crate::testing::{ACME, at};
use crate::text::Folded;
use crate::token::{Token, TokenFilter};

fn all() -> TokenFilter {
    TokenFilter { scope: Scope::All, operator: None }
}

/// With all that was stored of it, and its operator as it is.
pub async fn a_token_is_found_with_its_operator(stores: &Stores) -> Kept {
    let ann = add(stores, &a_new_operator("Ann")).await?;
    let (new, id) = issue(stores, &ann, "ci", at(3)).await?;
    let expected = Token {
        id,
        name: "ci".to_owned(),
        operator: "Ann".to_owned(),
        role: Role::Viewer,
        scope: Scope::All,
        issued: at(3),
        expires: at(1_000),
        last_used: None,
        revoked: None,
    };
    assert_eq!(stores.tokens.find(new.digest).await?, Some((expected.clone(), ann.clone())));
    assert_eq!(stores.tokens.find_by_id(id).await?, Some(expected));
    assert_eq!(stores.tokens.find_by_id(TokenId(id.0 + 1)).await?, None);
    stores.operators.remove(ann.id, &a_record("gone")).await?;
    assert_eq!(stores.tokens.add(&new, &a_record("late")).await?, None);
    Ok(())
}

/// By operator and by scope.
pub async fn tokens_are_listed_newest_first_in_pages(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    let ann = add(stores, &NewOperator { organization: Some(ACME.to_owned()), ..a_new_operator("Ann") }).await?;
    let bob = add(stores, &a_new_operator("Bob")).await?;
    let mut ids = Vec::new();
    for (number, operator) in [&ann, &bob, &ann, &bob, &ann].into_iter().enumerate() {
        ids.insert(0, issue(stores, operator, &format!("token {number}"), at(0)).await?.1);
    }
    let listed = async |filter: &TokenFilter, after, limit| {
        let page = stores.tokens.page(filter, after, limit).await?;
        Ok::<_, crate::error::StoreError>(page.into_iter().map(|token| token.id).collect::<Vec<_>>())
    };
    assert_eq!(listed(&all(), None, 2).await?, ids[..2]);
    assert_eq!(listed(&all(), Some(ids[1]), 9).await?, ids[2..]);
    let of_bob = TokenFilter { operator: Some(Folded::of("BOB")), ..all() };
    assert_eq!(listed(&of_bob, None, 9).await?, [ids[1], ids[3]]);
    let of_acme = TokenFilter { scope: Scope::Organization(acme), ..all() };
    assert_eq!(listed(&of_acme, None, 9).await?, [ids[0], ids[2], ids[4]]);
    assert!(listed(&TokenFilter { scope: Scope::Organization(zenith), ..all() }, None, 9).await?.is_empty());
    Ok(())
}

/// And stays so since then.
pub async fn a_token_is_revoked_once(stores: &Stores) -> Kept {
    let ann = add(stores, &a_new_operator("Ann")).await?;
    let (new, id) = issue(stores, &ann, "ci", at(0)).await?;
    assert!(stores.tokens.revoke(id, at(5), &a_record("revoked")).await?);
    assert!(!stores.tokens.revoke(id, at(6), &a_record("again")).await?);
    let (token, _) = stores.tokens.find(new.digest).await?.ok_or("not found")?;
    assert_eq!(token.revoked, Some(at(5)));
    Ok(())
}

/// The last use never goes back.
pub async fn the_last_use_of_a_token_is_kept(stores: &Stores) -> Kept {
    let ann = add(stores, &a_new_operator("Ann")).await?;
    let (_, id) = issue(stores, &ann, "ci", at(0)).await?;
    for second in [20, 10] {
        stores.tokens.note_use(id, at(second)).await?;
    }
    let token = stores.tokens.find_by_id(id).await?.ok_or("not found")?;
    assert_eq!(token.last_used, Some(at(20)));
    Ok(())
}
