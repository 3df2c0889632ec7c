"""The PTX front end: text of one kernel to a `Code` of the machine.

`text.py` has tokens and statements, `names.py` what a kernel declares, `rows.py` the table of
arithmetic, `forms.py`, `moving.py`, `collective.py` and `matrix.py` the instructions that are
more than a function, `front.py` the whole. An instruction that no row has is an error with its
line, never a guess. Source of every form: NVIDIA, "Parallel Thread Execution ISA".
"""
