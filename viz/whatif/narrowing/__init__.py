"""Which match made a result wrong, and the smallest kernel that still shows it."""
