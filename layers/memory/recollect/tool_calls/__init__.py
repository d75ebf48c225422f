"""Tool calls in a model's text: the protocols ABP and VCP, read whatever stands around and inside their blocks.

What the tools do, and the models of their parameters: `entrypoints/tools`.
"""
