//! A sample of the refusals of a round: a few of each owner, and a bounded number in all.

use super::model::{NewRefusal, Owner};
use std::collections::HashMap;

/// Refusals of one owner that one round keeps.
const OF_ONE: usize = 20;

/// Refusals that one round keeps in all.
const OF_ALL: usize = 200;

/// The refusals of one round: between two writes to the database.
#[derive(Debug, Default)]
pub struct RefusalSampler {
    kept: Vec<NewRefusal>,
    by_owner: HashMap<Owner, usize>,
}

impl RefusalSampler {
    /// Adds a refusal; `false` if the round has enough of its owner or in all. The first ones are kept.
    pub fn take(&mut self, refusal: NewRefusal) -> bool {
        if self.kept.len() == OF_ALL {
            return false;
        }
        let of_one = self.by_owner.entry(refusal.owner.clone()).or_default();
        if *of_one == OF_ONE {
            return false;
        }
        *of_one += 1;
        self.kept.push(refusal);
        true
    }

    /// Ends the round; what it kept, in order.
    pub fn end(&mut self) -> Vec<NewRefusal> {
        self.by_owner.clear();
        std::mem::take(&mut self.kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caller::OrganizationId;
    use crate::testing::a_refusal;

    fn of_address(number: usize) -> NewRefusal {
        a_refusal(Owner::Address(format!("192.0.2.{number}")))
    }

    #[test]
    fn a_flood_of_one_owner_leaves_room_for_others() {
        let mut sampler = RefusalSampler::default();
        let kept = (0..1_000).filter(|_| sampler.take(of_address(1))).count();
        assert_eq!(kept, OF_ONE);
        assert!(sampler.take(of_address(2)));
        assert!(sampler.take(a_refusal(Owner::Organization(OrganizationId(1)))));
        assert_eq!(sampler.end().len(), OF_ONE + 2);
    }

    #[test]
    fn a_flood_from_many_addresses_is_bounded_too() {
        let mut sampler = RefusalSampler::default();
        let kept = (0..1_000).filter(|number| sampler.take(of_address(*number))).count();
        assert_eq!(kept, OF_ALL);
        assert_eq!(sampler.end().len(), OF_ALL);
    }

    #[test]
    fn a_round_begins_empty_and_keeps_the_order() {
        let mut sampler = RefusalSampler::default();
        for _ in 0..2 {
            let sent: Vec<NewRefusal> = (0..OF_ONE).map(of_address).collect();
            assert!(sent.iter().all(|refusal| sampler.take(refusal.clone())));
            assert_eq!(sampler.end(), sent);
        }
        assert_eq!(sampler.end(), []);
    }
}
