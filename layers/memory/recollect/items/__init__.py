"""Items: exact JSON documents that an application keeps at a namespace and a key, and searches."""
