"""Steps of other compilers, checked by executing their graphs before and after."""
