//! Random numbers that a seed repeats, and content made of them.

/// The default of the runs.
const SEED: u64 = 20_260_504;

/// Names another seed, in decimal.
const VARIABLE: &str = "CRASH_SEED";

/// The seed of this run.
pub(crate) fn seed() -> u64 {
    match std::env::var(VARIABLE) {
        Ok(text) => text.parse().expect("a whole number in CRASH_SEED"),
        Err(_) => SEED,
    }
}

/// A sequence of numbers, by SplitMix64.
#[derive(Debug)]
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// A separate sequence, for a client whose speed doesn't change another client's.
    pub(crate) fn fork(&mut self) -> Self {
        Self(self.next())
    }

    /// Mostly small sizes, some of a few hundred kilobytes, and a few that are uploaded to S3 in parts.
    pub(crate) fn size(&mut self) -> usize {
        let bound = match self.below(40) {
            0 => 12_000_000,
            1..8 => 500_000,
            8..24 => 20_000,
            _ => 300,
        };
        usize::try_from(self.below(bound)).unwrap()
    }
}

/// `size` bytes that no other number has, in blocks of which no two are equal.
pub(crate) fn content(number: u64, size: usize) -> Vec<u8> {
    const BLOCK: usize = 4096;
    let mut chance = Chance::new(number);
    let mut block = Vec::with_capacity(BLOCK);
    while block.len() < BLOCK {
        block.extend_from_slice(&chance.next().to_le_bytes());
    }
    let mut content = block.repeat(size.div_ceil(BLOCK));
    for (index, block) in (0_u64..).zip(content.chunks_exact_mut(BLOCK)) {
        block[..8].copy_from_slice(&(number << 32 | index).to_le_bytes());
    }
    content.truncate(size);
    content
}
