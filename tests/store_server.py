"""An S3 server on loopback, for the length of a block: moto's, with one empty bucket.

with s3_server() as url:
    …    # "http://127.0.0.1:40123"; the environment names it and a key, the bucket is "chats"
"""

from __future__ import annotations

import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

from realtalk.local.environment import environment

__all__ = ["BUCKET", "s3_server"]

BUCKET = "chats"


@contextmanager
def s3_server() -> Iterator[str]:
    """The server's address."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    url = f"http://{host}:{port}"
    wanted = {
        "AWS_ENDPOINT_URL": url,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    try:
        with environment(wanted):
            # What other servers of this process were given is there still.
            for path, method in (("moto-api/reset", "POST"), (BUCKET, "PUT")):
                request = urllib.request.Request(f"{url}/{path}", method=method)
                urllib.request.urlopen(request).close()
            yield url
    finally:
        server.stop()
