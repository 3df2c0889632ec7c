"""Routes by what they are about, each a blueprint. They parse and answer."""
