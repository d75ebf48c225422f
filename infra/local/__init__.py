"""Built functions on this machine: over local engines, by the SAM CLI with Docker, by Lambda's own client without."""
