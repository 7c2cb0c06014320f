"""The command `imagegen`."""
