"""console: pages for people, made from calls of the API with the token of whoever looks."""

import os

from recollect.entrypoints.lambda_handlers import console_handler
from recollect.settings import Settings

handler = console_handler(Settings.from_environment(os.environ))
