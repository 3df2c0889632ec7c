"""Why a rule did not fire: at a node of a pass, or in a pass as a whole."""
