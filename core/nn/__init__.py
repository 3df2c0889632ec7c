"""Layers, optimizers and the state of models."""
