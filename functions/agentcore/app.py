"""agentcore: Bedrock AgentCore Memory's API for clients that sign as AWS's do, over the same memory."""

from recollect.entrypoints.http.aws import agentcore_handler
from recollect.entrypoints.lambda_handlers import open_warm_app

handler = agentcore_handler(open_warm_app("agentcore"))
