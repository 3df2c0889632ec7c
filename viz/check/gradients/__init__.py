"""Whether steps of the pass `gradient` are right: derivatives against differences."""
