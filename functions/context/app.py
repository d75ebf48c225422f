"""context: chooses and renders the context of the next model call; has the models for those that have none."""

from recollect.entrypoints.lambda_handlers import context_handler, open_warm_app

handler = context_handler(open_warm_app("context"))
