"""What really happens to tensors: one tensor explained, the autograd graph, the operators of one pass line by line."""
