"""Functions of whole axes: made, reduced, contracted, joined, indexed, sorted, factored."""
