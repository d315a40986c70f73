//! Decision I2.

use super::*;
use crate::device_status::QueueLength;
use crate::testing::at;
use proptest::prelude::*;

const HOUR: i64 = 3_600;

fn ink(name: &str, level: f64) -> RemainingInk {
    RemainingInk { index: 1.0, name: name.to_owned(), level, max_level: 1_000.0 }
}

fn sample(seconds: i64, inks: Vec<RemainingInk>) -> DeviceSample {
    DeviceSample { at: at(seconds), temperature: None, remaining_inks: inks, queue_length: QueueLength::Length(0.0) }
}

fn forecast(samples: &[DeviceSample]) -> Vec<InkForecast> {
    let mut usage = InkUsage::default();
    for sample in samples {
        usage.add(sample);
    }
    usage.forecast()
}

fn levels(hours_and_levels: &[(i64, f64)]) -> Vec<DeviceSample> {
    hours_and_levels.iter().map(|(hour, level)| sample(hour * HOUR, vec![ink("Cyan", *level)])).collect()
}

#[test]
fn an_even_use_empties_the_tank_when_it_says() {
    // 10 ml an hour; 500 ml are left after two days.
    let found = forecast(&levels(&[(0, 980.0), (24, 740.0), (48, 500.0)]));
    assert_eq!(found.len(), 1);
    assert!((found[0].per_day - 240.0).abs() < 1e-9);
    assert_eq!(found[0].empties_at, at((48 + 50) * HOUR));
}

#[test]
fn a_refill_is_left_out_and_noise_is_not() {
    // Decision I2: a rise of more than 5 % of MaxLevel is a refill.
    let refilled = forecast(&levels(&[(0, 300.0), (12, 200.0), (13, 1_000.0), (24, 900.0)]));
    assert!((refilled[0].per_day - 200.0).abs() < 1e-9, "{refilled:?}");
    let noisy = forecast(&levels(&[(0, 300.0), (12, 200.0), (13, 250.0), (24, 150.0)]));
    assert!((noisy[0].per_day - 150.0).abs() < 1e-9, "{noisy:?}");
}

#[test]
fn a_day_of_samples_and_some_use_are_needed() {
    // Decision I2.
    assert_eq!(forecast(&[]), []);
    assert_eq!(forecast(&levels(&[(0, 900.0), (23, 100.0)])), []);
    assert_eq!(forecast(&levels(&[(0, 900.0), (48, 900.0)])), []);
    assert_eq!(forecast(&levels(&[(0, 100.0), (48, 900.0)])), []);
    assert_eq!(forecast(&levels(&[(0, 900.0), (24, 100.0)])).len(), 1);
    assert_eq!(forecast(&levels(&[(0, 900.0), (24, 900.0 - 1e-9)])), [], "it lasts longer than a century");
}

#[test]
fn an_empty_tank_is_empty_since_its_last_sample() {
    assert_eq!(forecast(&levels(&[(0, 900.0), (24, 0.0)]))[0].empties_at, at(24 * HOUR));
}

#[test]
fn each_ink_has_its_own_forecast() {
    let both = |hour: i64, cyan, black| sample(hour * HOUR, vec![ink("Cyan", cyan), ink("Black", black)]);
    let found = forecast(&[both(0, 900.0, 500.0), both(24, 800.0, 500.0), both(48, 700.0, 498.0)]);
    let per_day: Vec<(&str, f64)> = found.iter().map(|ink| (ink.name.as_str(), ink.per_day)).collect();
    assert_eq!(per_day, [("Cyan", 100.0), ("Black", 1.0)]);
}

/// Levels of one ink at rising times within a week.
fn any_samples() -> impl Strategy<Value = Vec<DeviceSample>> {
    let one = (1_i64..6 * HOUR, prop_oneof![4 => 0.0..1_000.0_f64, 1 => Just(-1.0)]);
    prop::collection::vec(one, 0..28).prop_map(|steps| {
        let mut seconds = 0;
        let sample = |(step, level)| {
            seconds += step;
            sample(seconds, vec![ink("Cyan", level)])
        };
        steps.into_iter().map(sample).collect()
    })
}

proptest! {
    #[test]
    fn a_forecast_is_never_in_the_past_of_its_samples(samples in any_samples()) {
        for found in forecast(&samples) {
            prop_assert!(found.per_day > 0.0 && found.per_day.is_finite());
            prop_assert!(found.empties_at >= samples[0].at.plus(SHORTEST));
        }
    }

    #[test]
    fn unknown_levels_count_as_no_sample(samples in any_samples()) {
        let known: Vec<_> =
            samples.iter().filter(|sample| sample.remaining_inks[0].level >= 0.0).cloned().collect();
        prop_assert_eq!(forecast(&samples), forecast(&known));
    }

    #[test]
    fn refills_do_not_change_the_use(per_hour in 1.0..20.0_f64, refill_at in 2_usize..40) {
        let (mut level, mut samples) = (1_000.0, Vec::new());
        for hour in 0..48 {
            level = if hour == refill_at { 1_000.0 } else { level - per_hour };
            samples.push(sample(i64::try_from(hour).unwrap() * HOUR, vec![ink("Cyan", level)]));
        }
        // The hour of the refill is one of 47, and its use is unknown.
        let expected = per_hour * 24.0 * 46.0 / 47.0;
        let found = forecast(&samples);
        let is_refill = per_hour * f64::from(u32::try_from(refill_at).unwrap()) > 50.0;
        prop_assume!(is_refill);
        prop_assert!((found[0].per_day - expected).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn any_number_gives_a_forecast_or_none(
        level in any::<f64>(), other in any::<f64>(), max_level in any::<f64>(), seconds in 0_i64..1 << 40
    ) {
        let ink = |level| RemainingInk { index: 0.0, name: String::new(), level, max_level };
        let _ = forecast(&[sample(0, vec![ink(level)]), sample(seconds, vec![ink(other)])]);
    }
}
