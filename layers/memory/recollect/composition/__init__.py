"""Wires the use cases of each subject over the parts of one deployment: one class a subject, made when first used."""
