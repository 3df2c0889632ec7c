"""The page that opens first, and that of one kernel: what ran, and what took how long."""
