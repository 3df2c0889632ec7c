"""What a run is: the processes and files that it is made of, and which runs there are."""
