"""
Content Credentials: a signed statement in an image's file that a model made it, and which.

Written to the specification of C2PA 2.3,
https://spec.c2pa.org/specifications/specifications/2.3/specs/C2PA_Specification.html.
Its own library draws random salts, with which the same image would never be the same file twice.
"""
