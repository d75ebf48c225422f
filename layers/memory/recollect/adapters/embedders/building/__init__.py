"""Builds the folder of the in-process model from published weights; no function imports it."""

from typing import Final

PACKAGES: Final = ("onnx", "onnxruntime")
"""What it needs; the extra `local` has them. Asked before a module of this package is imported."""
