"""Calls the tracker and asserts what it answers. SERVER is the program that serves it."""

import os
import threading
import time
from uuid import UUID

from wipagent import (
    ArgumentError, DomainError, NotFound, Page, Place, ProtocolError, Refused, Space, Text, TooLarge, Unavailable, Unknown, connect,
)
from wipagent import _runtime
from wipagent.tracker import Clock, Comment, Filter, Issue, Point, Spot

space = connect(command=[os.environ["SERVER"]])
with space:
    issue = Issue(space, "/board/issues/1")
    assert issue.path == "/board/issues/1" and repr(issue) == "Issue('/board/issues/1')"

    meta = issue.get_metadata()
    assert meta.title == 'a "quoted" title' and isinstance(meta.title, Text)
    assert meta.state == "open" and meta.author == UUID("ab000000-0000-0000-0000-000000000001")
    assert (meta.created, meta.age, meta.digest, meta.labels) == (1000, 1, b"\x00\x01", ["x", "y"])
    assert meta.parent == "/board/issues/1" and meta.draft is True and meta.closed_at is None
    assert meta.estimates == {"a": Unknown("manager_cache_unavailable"), "b": 1e-9, "c": Unknown("never_asked")}
    assert meta.origin == Unknown("manager_cache_unavailable")
    assert meta.outline == [Point(x=1.0, y=None), Point(x=2.0, y=0.5)] and meta.offsets == {"o": Point(x=1e21)}

    thread = issue.thread()
    assert isinstance(thread, Comment) and thread.body == "first" and thread.replies[0].body == "second", thread
    assert issue.parent() is None and issue.votes() == {"up": 3, "down": -1}
    assert issue.get_related_items() == ["/board/issues/2", "/board/issues/3"]
    assert isinstance(issue.effort(), Unknown)
    assert len(issue.read_body().encode()) <= 4000

    like = Filter(states=["open", "closed"], near=Spot(x=1.5, y=-2))
    page = issue.search(filter=like, any_of=[like], weights={"a": 0.5}, page=2)
    assert (page.page, page.total_matching, page.source_truncated, page.next_page) == (2, 25, True, 3)
    assert [hit.score for hit in page] == list(map(float, range(10, 25))) and len(page.items) == 10
    last = page.fetch_next()
    assert last is not None and last.fetch_next() is None and len(last.items) == 5

    now = Clock(space, "/board/clock").now()
    assert (now.value.at, now.value.uptime, now.generation, now.snapshot_id, now.schema_version) == (7, 60000, 2, "s-1", 3)
    assert now.provenance.assumed_observer == Place(x=1.0, y=2.0, z=3.0) and now.age_millis > 0 and now.trust == "observed_data"

    assert issue.close(reason="done", within=1500, key=b"\x00\xff", duplicate_of="/board/issues/2") == "/board/issues/4"

    def raises(kind, call):
        try:
            call()
        except kind as e:
            assert type(e) is kind
            return e
        raise AssertionError(f"{kind.__name__} was not raised")

    locked = raises(DomainError, Issue(space, "/board/issues/3").read_body)
    assert (locked.message, locked.hint, locked.retry_after) == ("the issue is locked", "wait until it is not", 1.5)
    assert raises(DomainError, locked.corrected) is locked and locked.corrected_call is None
    defect = raises(Unavailable, Issue(space, "/board/issues/4").read_body)
    assert defect.ref and defect.ref in defect.message
    large = raises(TooLarge, Issue(space, "/board/issues/9").get_related_items)
    kept = large.artifact
    assert kept.size == len('"/board/issues/2",') * 5000 + 1 and kept.path in str(large) and kept.expires_in == 1800, kept
    text, offset = "", 0
    while offset is not None:
        part = space.invoke(kept.path, "read", {"offset": offset, "length": 16000})
        text, offset = text + part["json"], part["next_offset"]
    assert text.startswith(kept.head) and text.endswith(kept.tail) and text.count("/board/issues/2") == 5000
    rest = space.invoke(kept.calls[0].target, kept.calls[0].operation, kept.calls[0].arguments)
    assert rest["offset"] == len(kept.head) and not kept.untrusted
    raises(Refused, lambda: Issue(space, "/board/issues/2").close(reason="done"))
    raises(NotFound, Issue(space, "/board/issues/77777777").read_body)
    bad = raises(ArgumentError, lambda: issue.search(filter=like, any_of=[like], page_size=1000, page=0))
    assert {f.path for f in bad.faults} == {"/page_size", "/page"} and "1000" in str(bad)
    again = bad.corrected()
    assert isinstance(again, Page) and len(again.items) == 25 and again.page == 1
    raises(TypeError, lambda: issue.close(reason=object()))
    raises(ValueError, lambda: issue.search(filter=like, weights={"a": float("nan")}))

    # Threads share the connection.
    found: list[float] = []
    threads = [
        threading.Thread(target=lambda: found.extend(hit.score for hit in issue.search(filter=like, any_of=[like], page_size=7)))
        for _ in range(8)
    ]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert sorted(found) == sorted(list(map(float, range(25))) * 8)
    raw = space.invoke("/board/issues/1", "votes", {})
    assert raw == {"up": 3, "down": -1}
raises(Unavailable, issue.votes)


class Fixed:
    """A transport that always answers the same."""

    def __init__(self, result):
        self.result = result

    def request(self, method, params, timeout):
        return {"structuredContent": self.result}

    def notify(self, method, params):
        pass

    def close(self):
        pass


for answer, words in {
    "result": "found an error without a class",
    "list": "result of Issue.votes at '/a': found a list, expected an integer",
    "bool": "result of Issue.votes at '': found a bool, expected an object",
}.items():
    fixed = {"result": {"error": 1}, "list": {"result": {"a": []}}, "bool": {"result": True}}[answer]
    wrong = raises(ProtocolError, Issue(Space(Fixed(fixed)), "/x").votes)
    assert str(wrong) == words, wrong
wrong = raises(ProtocolError, Issue(Space(Fixed({"result": {"title": "t", "state": "ajar"}})), "/x").get_metadata)
assert str(wrong) == "result of Issue.get_metadata at '/state': found a string, expected a label that these bindings know"
wrong = raises(ProtocolError, Issue(Space(Fixed({"artifact": {"path": "/a", "calls": []}})), "/x").get_metadata)
assert str(wrong) == "artifact at '/bytes': found nothing, expected an integer", wrong
endless = {"items": [], "page": 2, "page_size": 1, "total_matching": 9, "next_page": 2, "truncated": True, "source_truncated": False}
pages = Issue(Space(Fixed({"result": endless})), "/x").search(filter=like)
assert str(raises(ProtocolError, lambda: list(pages))) == "found page 2 behind page 2"

# A server that says nothing, too much, or something else.
slow = ["python3", "-c", "import sys; [None for _ in sys.stdin]"]
assert "found no answer within 0.2 s" in str(raises(Unavailable, lambda: connect(command=slow, timeout=0.2)))
started = time.monotonic()
assert "found no answer within 0.2 s" in str(raises(Unavailable, lambda: connect(command=["sleep", "100"], timeout=0.2)))
assert time.monotonic() - started < 5, "a server that never answered was waited for"
deaf = connect(command=["python3", "-c", "input(); print('{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}', flush=True); import time; time.sleep(60)"])
deaf._timeout = 0.2
wide = "x" * 500_000  # more than a pipe holds
assert "found no answer" in str(raises(Unavailable, lambda: deaf.invoke(wide, "o", {}, seconds=0)))
assert "found no answer" in str(raises(Unavailable, lambda: deaf.discover(wide)))
deaf._transport._process.kill()
deaf.close()
_runtime._MAX_LINE = 1000
long = ["python3", "-c", "input(); print('x' * 2000, flush=True); input()"]
assert "the server has ended" in str(raises(Unavailable, lambda: connect(command=long, timeout=5)))
deep = ["python3", "-c", "input(); print('[' * 900, flush=True); print('null', flush=True); import sys; sys.exit('over')"]
assert str(raises(Unavailable, lambda: connect(command=deep, timeout=5))) == "the server has ended: over"
refusing = ["python3", "-c", "input(); print('{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1,\"message\":\"no\"}}', flush=True); input()"]
assert str(raises(ProtocolError, lambda: connect(command=refusing, timeout=5))) == "no"
print("done")
