"""Which requests to OpenSearch are signed (SigV4), and by whom."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from recollect.domain.errors import ConfigurationError

if TYPE_CHECKING:
    from opensearchpy import Urllib3AWSV4SignerAuth

_DOMAIN = re.compile(r"\.(?P<region>[a-z0-9-]+)\.es\.amazonaws\.com(\.cn)?$|\.aos\.(?P<region2>[a-z0-9-]+)\.on\.aws$")


@dataclass(frozen=True, slots=True)
class Signing:
    """SigV4 with the credentials that the AWS SDK finds. `service` is `es` for a managed domain."""

    region: str
    service: str = "es"

    def auth(self) -> Urllib3AWSV4SignerAuth:
        """Signs each request, with fresh credentials. Raises ConfigurationError where there are none."""
        from botocore.session import get_session
        from opensearchpy import Urllib3AWSV4SignerAuth

        credentials = get_session().get_credentials()
        if credentials is None:
            raise ConfigurationError("AWS_ACCESS_KEY_ID", "no AWS credentials to sign requests to OpenSearch with")
        return Urllib3AWSV4SignerAuth(credentials, self.region, self.service)


def signing_for(url: str) -> Signing | None:
    """Signing for the address of a managed domain; None for any other, and where the URL has a user of its own."""
    parts = urlsplit(url)
    found = _DOMAIN.search(parts.hostname or "")
    if found is None or parts.username is not None:
        return None
    return Signing(found["region"] or found["region2"])
