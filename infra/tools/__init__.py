"""What the project is checked, measured and documented with; nothing of it is deployed."""
