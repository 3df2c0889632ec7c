"""Files of models from elsewhere: archives and checkpoints. No code in them is ever run."""
