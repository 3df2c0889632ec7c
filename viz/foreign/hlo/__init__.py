"""HLO modules executed by NumPy, so that passes of XLA can be judged."""
