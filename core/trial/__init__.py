"""Programs of a kernel on the same arguments: launched, timed, compared with what is right."""
