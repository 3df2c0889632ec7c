"""Runs xdsl-opt, and prints how many ops a walk did something to: xDSL's own `has_done_action`,
asked once for each op that a walk takes from its list."""

import sys

from xdsl.pattern_rewriter import PatternRewriter, PatternRewriteWalker
from xdsl.xdsl_opt_main import xDSLOptMain

done = 0
run = PatternRewriteWalker._process_worklist


class Counting(PatternRewriter):
    def __setattr__(self, name, value):
        global done
        if name == "has_done_action" and not value and getattr(self, name, False):
            done += 1
        super().__setattr__(name, value)


def counted(self, listener):
    import xdsl.pattern_rewriter as module

    made = []
    original = module.PatternRewriter

    def make(op):
        made.append(Counting(op))
        return made[-1]

    module.PatternRewriter = make
    try:
        return run(self, listener)
    finally:
        module.PatternRewriter = original
        for one in made:
            one.has_done_action = False


PatternRewriteWalker._process_worklist = counted
xDSLOptMain(args=sys.argv[1:]).run()
print("COUNT", done, file=sys.stderr)
