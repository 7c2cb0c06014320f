"""Exact products: cut out, placed, painted around, and put back; and the lettering of references."""
