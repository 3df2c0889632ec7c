"""The rule sets, each of which holds the one before.

- `symbolic_simple`: constant folding and identities; cheap, never makes a graph larger.
- `symbolic`: also sums, division, comparison, boolean algebra, WHERE and casts.
- `symbolic_index`: also what index arithmetic needs: distribution, recombined quotients.

No rule changes a value, for any sign, with wraparound, or for NaN, infinities and -0.0.
"""

from core.uop.patterns.matcher import PatternMatcher
from core.uop.symbolic.arithmetic import arithmetic
from core.uop.symbolic.choose import choose
from core.uop.symbolic.comparison import comparison
from core.uop.symbolic.division import division
from core.uop.symbolic.floats import floats
from core.uop.symbolic.fold import fold, fold_bounds
from core.uop.symbolic.identities import identities
from core.uop.symbolic.index import index_rules

symbolic_simple = PatternMatcher(
    [*fold.rules, *identities.rules, *floats.rules, fold_bounds], name="symbolic_simple"
)
symbolic = PatternMatcher(
    symbolic_simple.rules + choose.rules + arithmetic.rules + division.rules + comparison.rules,
    name="symbolic",
)
symbolic_index = PatternMatcher(
    symbolic.rules + index_rules.rules, name="symbolic_index"
).settling()
