"""AWS as engines: one DynamoDB table, an OpenSearch index, an S3 bucket of snapshots, an EventBridge bus.

`ports` documents what both engines do alike.
"""
