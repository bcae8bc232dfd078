"""Linear programs in tensors, batched: presolve, standard form, interior point."""
