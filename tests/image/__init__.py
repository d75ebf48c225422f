"""The image, without Docker."""
