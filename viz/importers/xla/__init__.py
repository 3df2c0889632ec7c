"""XLA's and JAX's dumps: HLO and jaxpr."""
