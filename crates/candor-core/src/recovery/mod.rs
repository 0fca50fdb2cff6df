//! What may happen after a verdict. So far: nothing is ever sent again, since only a contract may ask for that.
