"""mem0's API in our terms: whose a memory is, what a filter means, how a memory looks (docs/integrations/mem0.md)."""
