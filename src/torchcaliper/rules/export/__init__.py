"""Rules on deployment: what an exported graph holds."""
