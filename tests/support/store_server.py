"""An S3 server on loopback, for the length of a block: files in memory, in one bucket.

with s3_server() as url:
    …    # "http://127.0.0.1:40123"; the environment names it and a key, the bucket is "chats"
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

from loopback import QuietHandler, serving
from realtalk.files.environment import environment

BUCKET = "chats"
_MOMENT = "2026-05-04T09:00:00.000Z"


@contextmanager
def s3_server() -> Iterator[str]:
    """The server's address."""
    files: dict[str, bytes] = {}

    class Store(QuietHandler):
        """As much of S3's protocol as a file system needs."""

        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            key, asked = self._asked()
            if not key:
                self._send(200, _listing(files, asked).encode())
            elif key not in files:
                self._send(404, b"<Error><Code>NoSuchKey</Code></Error>")
            else:
                self._send_part(files[key])

        def do_HEAD(self) -> None:
            key, _ = self._asked()
            found = not key or key in files
            self._send(200 if found else 404, files.get(key, b""))

        def do_PUT(self) -> None:
            key, _ = self._asked()
            files[key] = data = self._body()
            self._send(200, b"", data)

        def do_DELETE(self) -> None:
            files.pop(self._asked()[0], None)
            self._send(204, b"")

        def do_POST(self) -> None:
            """Only the removal of many at once."""
            for key in re.findall(r"<Key>(.*?)</Key>", self._body().decode()):
                files.pop(key, None)
            self._send(200, b"<DeleteResult></DeleteResult>")

        def _asked(self) -> tuple[str, dict[str, str]]:
            address = urlsplit(self.path)
            key = unquote(address.path).removeprefix(f"/{BUCKET}").strip("/")
            query = parse_qs(address.query, keep_blank_values=True)
            return key, {name: values[0] for name, values in query.items()}

        def _body(self) -> bytes:
            data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if "aws-chunked" not in self.headers.get("Content-Encoding", ""):
                return data
            whole, rest = b"", data
            while rest:  # "size;signature\r\n", so many bytes, "\r\n"; the last has none
                head, _, rest = rest.partition(b"\r\n")
                size = int(head.partition(b";")[0], 16)
                if not size:
                    break
                whole, rest = whole + rest[:size], rest[size + 2 :]
            return whole

        def _send_part(self, data: bytes) -> None:
            wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
            if wanted is None:
                self._send(200, data)
                return
            end = int(wanted[2] or len(data) - 1) + 1
            self._send(206, data[int(wanted[1]) : end], data)

        def _send(self, status: int, body: bytes, of: bytes | None = None) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Last-Modified", "Mon, 04 May 2026 09:00:00 GMT")
            self.send_header("ETag", _etag(body if of is None else of))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

    keys = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
    more = {"AWS_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true"}
    with serving(Store) as url, environment({"AWS_ENDPOINT_URL": url, **keys, **more}):
        yield url


def _etag(data: bytes) -> str:
    return f'"{hashlib.md5(data).hexdigest()}"'


def _listing(files: dict[str, bytes], asked: dict[str, str]) -> str:
    """What lies below a prefix; with a delimiter, folders stand for what is in them."""
    prefix, delimiter = asked.get("prefix", ""), asked.get("delimiter", "")
    found, folders = [], dict[str, None]()
    for key, data in sorted(files.items()):
        if not key.startswith(prefix):
            continue
        head, cut, _ = key[len(prefix) :].partition(delimiter) if delimiter else (key, "", "")
        if cut:
            folders[prefix + head + cut] = None
        else:
            found.append(
                f"<Contents><Key>{escape(key)}</Key><LastModified>{_MOMENT}</LastModified>"
                f"<ETag>{escape(_etag(data))}</ETag><Size>{len(data)}</Size></Contents>"
            )
    common = (
        f"<CommonPrefixes><Prefix>{escape(name)}</Prefix></CommonPrefixes>" for name in folders
    )
    return (
        '<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
        f"<Name>{BUCKET}</Name><Prefix>{escape(prefix)}</Prefix><IsTruncated>false</IsTruncated>"
        f"<KeyCount>{len(found) + len(folders)}</KeyCount>{''.join(found)}{''.join(common)}"
        "</ListBucketResult>"
    )
