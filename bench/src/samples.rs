//! What the runs gave: medians and their spread, product and reference in pairs.

use anyhow::Result;

/// The values of the runs of one thing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Samples(Vec<f64>);

impl Samples {
    pub(crate) fn push(&mut self, value: f64) {
        self.0.push(value);
    }

    pub(crate) fn sorted(&self) -> Vec<f64> {
        let mut values = self.0.clone();
        values.sort_by(f64::total_cmp);
        values
    }

    /// The middle one; of an even number the mean of the two in the middle.
    pub(crate) fn median(&self) -> f64 {
        let values = self.sorted();
        let middle = values.len() / 2;
        match values.len() {
            0 => f64::NAN,
            count if count % 2 == 1 => values[middle],
            _ => f64::midpoint(values[middle - 1], values[middle]),
        }
    }

    pub(crate) fn least(&self) -> f64 {
        self.sorted().first().copied().unwrap_or(f64::NAN)
    }

    pub(crate) fn most(&self) -> f64 {
        self.sorted().last().copied().unwrap_or(f64::NAN)
    }
}

impl FromIterator<f64> for Samples {
    fn from_iter<T: IntoIterator<Item = f64>>(values: T) -> Self {
        Self(values.into_iter().collect())
    }
}

/// Runs of the product, each paired with the run of its reference right after it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pairs {
    pub(crate) product: Samples,
    pub(crate) reference: Samples,
}

impl Pairs {
    /// Product to reference, pair by pair.
    pub(crate) fn ratios(&self) -> Samples {
        self.product.0.iter().zip(&self.reference.0).map(|(product, reference)| product / reference).collect()
    }
}

/// Measures product and reference in turn, so that what slows the machine slows both.
pub(crate) async fn paired(
    runs: usize,
    mut product: impl AsyncFnMut() -> Result<f64>,
    mut reference: impl AsyncFnMut() -> Result<f64>,
) -> Result<Pairs> {
    let mut pairs = Pairs::default();
    for _ in 0..runs {
        pairs.product.push(product().await?);
        pairs.reference.push(reference().await?);
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_of_the_sorted_values() {
        assert!((Samples::from_iter([3.0, 1.0, 2.0]).median() - 2.0).abs() < 1e-9);
        assert!((Samples::from_iter([4.0, 1.0, 2.0, 3.0]).median() - 2.5).abs() < 1e-9);
        assert!(Samples::default().median().is_nan());
    }

    #[tokio::test]
    async fn ratios_are_taken_pair_by_pair() {
        let mut values = [10.0, 40.0].into_iter();
        let mut references = [5.0, 10.0].into_iter();
        let pairs =
            paired(2, async || Ok(values.next().unwrap()), async || Ok(references.next().unwrap())).await.unwrap();
        assert_eq!(pairs.ratios().sorted(), [2.0, 4.0]);
        assert!((pairs.product.least() - 10.0).abs() < 1e-9 && (pairs.product.most() - 40.0).abs() < 1e-9);
    }
}
