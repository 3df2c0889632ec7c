"""Programs that reproduce one kernel, with uopviz or with the vendor's bindings alone."""
