"""An object store on this machine that speaks S3 as far as an index needs it, and keeps its objects in memory.

It answers what the engine's own client asks: reads of ranges, listings, writes that must not replace, uploads in parts,
deletions one by one and many at once. Whoever comes without its key is refused.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape, unescape

KEY, SECRET = "AKIAREVERIETEST", "a-secret-of-the-object-store"
_PAGE = 50  # keys in one answer to a listing; few, so that longer ones are seen to be read on


class ObjectStore(ThreadingHTTPServer):
    """Buckets come to be when something is put into them. `objects` are their bytes by `bucket/key`."""

    daemon_threads = True

    def __init__(self) -> None:
        """Listen on a free port, empty."""
        super().__init__(("127.0.0.1", 0), _Request)
        self.objects: dict[str, bytes] = {}
        self.parts: dict[str, dict[int, bytes]] = {}
        self.asked: list[str] = []
        self.mutex = threading.Lock()

    def variables(self) -> dict[str, str]:
        """Return the variables by which the engine's client finds this store and proves itself."""
        return {
            "AWS_ENDPOINT": f"http://127.0.0.1:{self.server_port}",
            "AWS_ALLOW_HTTP": "true",
            "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
        }


class _Request(BaseHTTPRequestHandler):
    server: ObjectStore
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answer a read of an object or of a range of it, or a listing."""
        name, query = self._asked()
        if "list-type" in query:
            self._list(name, query)
            return
        data = self.server.objects.get(name)
        if data is None:
            self._error(404, "NoSuchKey")
            return
        found = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
        if found is None:
            self._answer(200, data, tag=data)
            return
        first, last = found.groups()
        start = int(first) if first else max(0, len(data) - int(last))
        end = min(int(last) + 1, len(data)) if first and last else len(data)
        if start >= len(data):
            self._error(416, "InvalidRange")
            return
        self._answer(206, data[start:end], tag=data, Content_Range=f"bytes {start}-{end - 1}/{len(data)}")

    def do_HEAD(self) -> None:
        """Answer as to a read, without the object."""
        self.do_GET()

    def do_PUT(self) -> None:
        """Take an object, a copy of one or a part of one; with `If-None-Match` only when there is none yet."""
        name, query = self._asked()
        data = self._body()
        with self.server.mutex:
            if "uploadId" in query:
                self.server.parts[query["uploadId"]][int(query["partNumber"])] = data
            elif self.headers.get("If-None-Match") == "*" and name in self.server.objects:
                self._error(412, "PreconditionFailed")
                return
            else:
                self.server.objects[name] = data
        self._answer(200, b"", tag=data)

    def do_POST(self) -> None:
        """Begin or end an upload in parts, or delete many objects."""
        name, query = self._asked()
        data = self._body()
        with self.server.mutex:
            if "uploads" in query:
                upload = f"upload{len(self.server.parts)}"
                self.server.parts[upload] = {}
                self._answer(200, _xml("InitiateMultipartUploadResult", f"<UploadId>{upload}</UploadId>"))
            elif "uploadId" in query:
                parts = self.server.parts.pop(query["uploadId"])
                self.server.objects[name] = b"".join(parts[number] for number in sorted(parts))
                self._answer(200, _xml("CompleteMultipartUploadResult", "<ETag>x</ETag>"))
            else:
                keys = [unescape(key) for key in re.findall("<Key>(.*?)</Key>", data.decode())]
                for key in keys:
                    self.server.objects.pop(f"{name.rstrip('/')}/{key}", None)
                told = "".join(f"<Deleted><Key>{escape(key)}</Key></Deleted>" for key in keys)
                self._answer(200, _xml("DeleteResult", told))

    def do_DELETE(self) -> None:
        """Delete an object, whether it is there or not."""
        name, _ = self._asked()
        self.server.objects.pop(name, None)
        self._answer(204, b"")

    def _asked(self) -> tuple[str, dict[str, str]]:
        parts = urlsplit(self.path)
        self.server.asked.append(f"{self.command} {self.path}")
        query = {key: values[0] for key, values in parse_qs(parts.query, keep_blank_values=True).items()}
        return unquote(parts.path).lstrip("/"), query

    def _body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def parse_request(self) -> bool:
        """Refuse whoever does not name the key, whatever is asked."""
        if not super().parse_request():
            return False
        if f"Credential={KEY}/" in self.headers.get("Authorization", ""):
            return True
        self._body()
        self._error(403, "InvalidAccessKeyId")
        return False

    def _list(self, bucket: str, query: dict[str, str]) -> None:
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
        with self.server.mutex:
            sizes = {key: len(data) for key, data in self.server.objects.items()}
        found: dict[str, str] = {}
        for name in sorted(sizes):
            key = name.removeprefix(bucket.rstrip("/") + "/")
            rest = key.removeprefix(prefix)
            if key == name or not key.startswith(prefix):
                continue
            if delimiter and delimiter in rest:
                shared = prefix + rest.split(delimiter)[0] + delimiter
                found[shared] = f"<CommonPrefixes><Prefix>{escape(shared)}</Prefix></CommonPrefixes>"
            else:
                found[key] = (
                    f"<Contents><Key>{escape(key)}</Key><Size>{sizes[name]}</Size>"
                    "<LastModified>2026-07-01T12:00:00.000Z</LastModified></Contents>"
                )
        after = query.get("continuation-token") or query.get("start-after", "")
        keys = [key for key in sorted(found) if key > after]
        more = len(keys) > _PAGE
        keys = keys[:_PAGE]
        token = f"<NextContinuationToken>{escape(keys[-1])}</NextContinuationToken>" if more else ""
        told = f"<IsTruncated>{str(more).lower()}</IsTruncated>{token}" + "".join(found[key] for key in keys)
        self._answer(200, _xml("ListBucketResult", told))

    def _error(self, status: int, code: str) -> None:
        self._answer(status, _xml("Error", f"<Code>{code}</Code><Message>{code}</Message>"))

    def _answer(self, status: int, body: bytes, *, tag: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("ETag", f'"{hashlib.sha256(tag).hexdigest()[:32]}"')
        self.send_header("Last-Modified", "Wed, 01 Jul 2026 12:00:00 GMT")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def _xml(name: str, inside: str) -> bytes:
    space = "http://s3.amazonaws.com/doc/2006-03-01/"
    return f'<?xml version="1.0" encoding="UTF-8"?><{name} xmlns="{space}">{inside}</{name}>'.encode()


@contextmanager
def object_store() -> Iterator[ObjectStore]:
    """Serve an object store while the block runs."""
    store = ObjectStore()
    threading.Thread(target=store.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield store
    finally:
        store.shutdown()
        store.server_close()
