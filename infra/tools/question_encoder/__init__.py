"""Trains the encoder of questions: the embedder's upper half, moved towards the vectors of what answers them."""
