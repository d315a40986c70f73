//! What every implementation of a port must hold, one file per port, one function per clause.
