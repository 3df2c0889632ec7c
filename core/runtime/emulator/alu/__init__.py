"""What instructions compute: functions from arrays to arrays, of any language.

Operands of one function have one dtype, unless it says otherwise; each function works element by
element, as NumPy broadcasts, never changes its arguments and never raises for a value. bfloat16
elements are np.uint16 of their bits.
"""
