"""What an operator runs by hand. It is not in the image."""
