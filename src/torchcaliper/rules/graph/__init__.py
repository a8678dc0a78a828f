"""Rules on compilation: torch.compile and what it makes of a program."""
