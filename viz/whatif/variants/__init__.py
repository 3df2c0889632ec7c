"""In what a kernel is compiled otherwise, how that is done, and what is kept beside the trace."""
