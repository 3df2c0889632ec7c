"""Random Tensor programs: lists of statements, each of them with two texts. One is what a user
writes, the other says the same with functions of another library (`numpy_functions`, or those of
PyTorch in `tests/conformance`). Shared by the fuzzers of both; knows no test.
"""
