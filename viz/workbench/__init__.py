"""A kernel as it was and as it is changed, run side by side on the same inputs."""
