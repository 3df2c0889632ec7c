"""The boundary between the explorer and the meaning of one compiler's graphs."""
