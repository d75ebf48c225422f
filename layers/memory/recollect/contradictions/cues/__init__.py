"""The cue rules: English read by rules and word lists. Outside this package only `CueJudge` is imported."""

from recollect.contradictions.cues.judge import CueJudge

__all__ = ["CueJudge"]
