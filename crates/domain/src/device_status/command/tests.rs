//! What a status update says, or why it is refused.

mod queue_length;
mod values;
