"""The console: pages for a browser over the routes of this process, by the same credentials (docs/console.md)."""
