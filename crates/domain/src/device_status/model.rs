//! What a device status is.

use crate::guid::DeviceGuid;
use crate::timestamp::Timestamp;

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($word:ident),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name { $($word),+ }

        impl $name {
            /// Every value, in the interface's order.
            pub const ALL: &[Self] = &[$(Self::$word),+];

            /// The interface's word.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$word => stringify!($word)),+ }
            }

            /// Reads the interface's word without case (decisions D2, D4, R14).
            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.as_str().eq_ignore_ascii_case(text))
            }
        }
    };
}

words! {
    /// What a device is doing (interface 2.8).
    Status { Error, Idle, Offline, Printing, Aborting, Sleeping, Calibrating }
}

words! {
    /// What the PING messages say (interface 2.8).
    ConnectionState { Online, Offline, Unstable }
}

/// The jobs that wait at a device, in the measure of its kind (interface 2.8, decision D3).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum QueueLength {
    /// Units, for a roll-to-roll device; never negative.
    Length(f64),
    /// Square units, for a rigid device; never negative.
    Area(f64),
    /// Sheets, for a sheet-fed device.
    Sheets(u64),
}

/// One ink (interface 2.8).
#[derive(Debug, Clone, PartialEq)]
pub struct RemainingInk {
    /// Sequence index.
    pub index: f64,
    /// Name of the colour.
    pub name: String,
    /// Millilitres in the tank; below 0 means unknown.
    pub level: f64,
    /// Millilitres that the tank holds.
    pub max_level: f64,
}

/// The status of a device as it was last received.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceStatus {
    pub device: DeviceGuid,
    /// Time of receipt (decision D5).
    pub received: Timestamp,
    pub status: Status,
    pub message: Option<String>,
    /// Degrees Celsius.
    pub temperature: Option<f64>,
    pub connection_state: Option<ConnectionState>,
    pub connection_message: Option<String>,
    pub remaining_inks: Vec<RemainingInk>,
    pub queue_length: QueueLength,
}
