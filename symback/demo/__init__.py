"""The demonstration that `symback demo` runs: a network that learns penguins."""
