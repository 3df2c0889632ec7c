"""What coding assistants ask of runs, over the Model Context Protocol: the commands as tools."""
