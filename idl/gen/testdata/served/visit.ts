// Calls the tracker and asserts what it answers. SERVER is the program that serves it.
import {
  ArgumentError, DomainError, NotFound, Page, ProtocolError, Refused, Space, TooLarge, Unavailable, WipError, connect, tracker, type Transport,
} from "./index.js";

declare const process: { readonly env: { readonly [name: string]: string | undefined } };
declare const console: { log(...words: unknown[]): void };

function same(found: unknown, expected: unknown): void {
  const [a, b] = [JSON.stringify(found), JSON.stringify(expected)];
  if (a !== b) throw new Error(`found ${a}, expected ${b}`);
}

async function raised<E extends WipError>(kind: new (...args: never[]) => E, promise: Promise<unknown>): Promise<E> {
  const error: unknown = await promise.then(() => new Error("nothing was thrown"), (e: unknown) => e);
  if (error instanceof kind && error.constructor === kind) return error;
  throw error;
}

const space = await connect({ command: [process.env["SERVER"] ?? ""], timeoutMillis: 10_000 });
const issue = new tracker.Issue(space, "/board/issues/1");
const near = { x: 1.5, y: -2 };
const filter: tracker.Filter = { states: ["open", "closed"], near };
try {
  const meta = await issue.getMetadata();
  same(
    [meta.title, meta.state, meta.author, meta.created, meta.age, [...meta.digest], meta.labels, meta.parent, meta.draft],
    ['a "quoted" title', "open", "ab000000-0000-0000-0000-000000000001", 1000, 1, [0, 1], ["x", "y"], "/board/issues/1", true],
  );
  same(meta.closedAt, { known: true, value: null });
  same(meta.origin, { known: false, reason: "manager_cache_unavailable" });
  same(meta.estimates, {
    a: { known: false, reason: "manager_cache_unavailable" }, b: { known: true, value: 1e-9 }, c: { known: false, reason: "never_asked" },
  });
  same([meta.outline, meta.offsets], [{ known: true, value: [{ x: 1, y: null }, { x: 2, y: 0.5 }] }, { o: { x: 1e21, y: null } }]);
  const thread = await issue.thread();
  same(thread.known && [thread.value.body, thread.value.replies[0]?.body, thread.value.previous], ["first", "second", null]);
  same([await issue.parent(), await issue.votes()], [null, { down: -1, up: 3 }]);
  same(await issue.getRelatedItems(), ["/board/issues/2", "/board/issues/3"]);
  same((await issue.effort()).known, false);

  const page = await issue.search({ filter, anyOf: [filter], weights: { a: 0.5 }, page: 2 });
  same([page.page, page.totalMatching, page.sourceTruncated, page.nextPage], [2, 25, true, 3]);
  const scores: number[] = [];
  for await (const hit of page) scores.push(hit.score);
  same(scores, Array.from({ length: 15 }, (_, i) => i + 10));
  const last = await page.fetchNext();
  same([last?.items.length, await last?.fetchNext()], [5, null]);

  const now = await new tracker.Clock(space, "/board/clock").now();
  same([now.value, now.generation, now.snapshotId, now.schemaVersion], [{ at: 7, uptime: 60000 }, 2, "s-1", 3]);
  same([now.provenance.assumedObserver, now.trust], [{ x: 1, y: 2, z: 3 }, "observed_data"]);

  const closed = await issue.close({ reason: "done", within: 1500, key: Uint8Array.of(0, 255), duplicateOf: "/board/issues/2" });
  same(closed, "/board/issues/4");

  const locked = await raised(DomainError, new tracker.Issue(space, "/board/issues/3").readBody());
  same([locked.hint, locked.retryAfterMillis, locked.correctedCall, locked.name], ["wait until it is not", 1500, null, "DomainError"]);
  same((await raised(DomainError, locked.corrected())) === locked, true);
  const defect = await raised(Unavailable, new tracker.Issue(space, "/board/issues/4").readBody());
  same(defect.ref !== "" && defect.message.includes(defect.ref), true);
  const large = await raised(TooLarge, new tracker.Issue(space, "/board/issues/9").getRelatedItems());
  const kept = large.artifact;
  same([kept.bytes, kept.expiresInMillis, kept.untrusted, large.message.includes(kept.path)], ['"/board/issues/2",'.length * 5000 + 1, 1800000, false, true]);
  let text = "";
  for (let offset: number | null = 0; offset !== null; ) {
    const part = await space.invoke({ target: kept.path, operation: "read", arguments: { offset, length: 16000 } });
    const range = part as { json: string; next_offset: number | null };
    text += range.json;
    offset = range.next_offset;
  }
  same([text.startsWith(kept.head), text.endsWith(kept.tail), text.split("/board/issues/2").length], [true, true, 5001]);
  const [first] = kept.calls;
  same(first !== undefined && (await space.invoke(first) as { offset: number }).offset, kept.head.length);
  await raised(Refused, new tracker.Issue(space, "/board/issues/2").close({ reason: "done" }));
  await raised(NotFound, new tracker.Issue(space, "/board/issues/77777777").readBody());
  const bad = await raised(ArgumentError, issue.search({ filter, anyOf: [filter], pageSize: 1000, page: 0 }));
  same(bad.faults.map((f) => f.path).sort(), ["/page", "/page_size"]);
  const again = await bad.corrected<Page<tracker.Hit>>();
  same([again instanceof Page, again.items.length], [true, 25]);

  const many = await Promise.all(Array.from({ length: 8 }, () => issue.search({ filter, anyOf: [filter], pageSize: 7 })));
  same(many.map((p) => p.items.length), Array<number>(8).fill(7));
  same(await space.invoke({ target: "/board/issues/1", operation: "votes", arguments: {} }), { down: -1, up: 3 });
} finally {
  await space.close();
}
await raised(Unavailable, issue.votes());

/** A transport that always answers the same. */
class Fixed implements Transport {
  readonly result: unknown;
  constructor(result: unknown) {
    this.result = result;
  }
  request(): Promise<unknown> {
    return Promise.resolve({ structuredContent: this.result });
  }
  notify(): void {}
  close(): Promise<void> {
    return Promise.resolve();
  }
}

const fixed = async (result: unknown) => new tracker.Issue(await Space.open(new Fixed(result)), "/x");
same((await raised(ProtocolError, (await fixed({ error: 1 })).votes())).message, "found an error without a class");
same(
  (await raised(ProtocolError, (await fixed({ result: { a: [] } })).votes())).message,
  'result of Issue.votes at "/a": found a list, expected an integer',
);
same(
  (await raised(ProtocolError, (await fixed({ result: { title: "t", state: "ajar" } })).getMetadata())).message,
  'result of Issue.get_metadata at "/state": found string, expected a label that these bindings know',
);
same(
  (await raised(ProtocolError, (await fixed({ artifact: { path: "/a", calls: [] } })).getMetadata())).message,
  'artifact at "/bytes": found nothing, expected an integer',
);
const endless = { items: [], page: 2, page_size: 1, total_matching: 9, next_page: 2, truncated: true, source_truncated: false };
const pages = await (await fixed({ result: endless })).search({ filter });
same((await raised(ProtocolError, pages.fetchNext())).message, "found page 2 behind page 2");

// A server that says nothing, or something else.
const node = (script: string) => ({ command: ["node", "-e", script], timeoutMillis: 5000 });
const silent = connect({ ...node("process.stdin.resume()"), timeoutMillis: 200 });
same((await raised(Unavailable, silent)).message, "found no answer within 200 ms");
const started = Date.now();
same((await raised(Unavailable, connect({ command: ["sleep", "100"], timeoutMillis: 200 }))).message, "found no answer within 200 ms");
same(Date.now() - started < 5000, true);
const over = connect(node("process.stdin.once('data', () => { console.log('[[[\\nnull'); console.error('over'); process.exit(1) })"));
same((await raised(Unavailable, over)).message, "the server has ended: over");
const refusing = `process.stdin.once("data", () => console.log('{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"}}'))`;
same((await raised(ProtocolError, connect(node(refusing)))).message, "no");
console.log("done");
