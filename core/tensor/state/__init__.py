"""What a Tensor is: its graph, where its values lie, and what it shares with its views."""
