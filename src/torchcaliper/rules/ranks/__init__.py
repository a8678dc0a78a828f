"""Rules on ranks: what several processes have to agree on."""
