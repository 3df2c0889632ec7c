"""What a trace file is: its tables, packed blocks and texts. Opens no file."""
