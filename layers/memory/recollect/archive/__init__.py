"""The archive: timelines as segments, snapshots, export and import, retention."""
