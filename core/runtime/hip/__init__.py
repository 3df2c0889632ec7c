"""AMD GPUs through the HIP API of the hip-python package."""
