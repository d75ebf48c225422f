"""What can go wrong while the engines are fetched or started, and the exit code of each."""

from __future__ import annotations


class EngineError(Exception):
    """An engine could not be fetched or started; the message is for the person at the terminal."""

    exit_code = 1


class MissingTool(EngineError):
    """A program that must be installed first is absent or too old."""

    exit_code = 3
