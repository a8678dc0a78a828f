"""What can be known from source alone: files read once, names resolved, functions followed with abstract values."""
