"""What has become, since a run, of the files and rules that its trace names, and who made it."""
