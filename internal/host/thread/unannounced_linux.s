// With a file in assembly the compiler accepts functions without a body (go:linkname).
