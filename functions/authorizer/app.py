"""authorizer: tells the API who asks, by an API key or a token in any header that a client has."""

import os

from recollect.bootstrap.aws_parts import AwsParts
from recollect.entrypoints.http.authorizer import build_authorizer
from recollect.settings import Settings

settings = Settings.from_environment(os.environ)
handler = build_authorizer(settings, AwsParts(settings).items)
