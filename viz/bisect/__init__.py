"""Which step of a whole run is wrong: the steps of its schedules, then each of its kernels."""
