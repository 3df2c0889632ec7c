"""Files as the system has them: opened safely, locked, replaced."""
