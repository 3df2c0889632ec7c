"""The commands of `uopviz`: each module prints what one or two of them are asked for."""
