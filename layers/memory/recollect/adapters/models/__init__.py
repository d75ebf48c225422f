"""Model providers: OpenAI-compatible servers, Bedrock, quoting without a model; and retries over several."""
