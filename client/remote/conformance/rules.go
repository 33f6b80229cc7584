package conformance

// Rule is one thing that the protocol asks of a Host.
type Rule struct {
	// ID never changes its meaning.
	ID string `json:"rule"`
	// Says is what spec/host.md says, in a sentence.
	Says string `json:"says"`
}

// The rules' IDs, in the order in which they are looked at.
const (
	handshake      = "handshake"
	defects        = "no-defects"
	classes        = "failure-class"
	rootEntry      = "tree-root"
	treeEnds       = "tree-ends"
	paths          = "entry-path"
	below          = "entry-below"
	duplicates     = "entry-duplicate"
	texts          = "entry-text"
	objectID       = "object-id"
	references     = "object-interfaces"
	fetchAgrees    = "fetch-agrees"
	subtreeAgrees  = "subtree-agrees"
	tags           = "entry-tag"
	since          = "tree-since"
	sinceUnknown   = "tree-since-unknown"
	served         = "document-served"
	digests        = "document-digest"
	compiles       = "document-compiles"
	declares       = "document-interface"
	unknownText    = "document-unknown"
	unknownEntry   = "entry-unknown"
	unknownCall    = "call-unknown"
	examples       = "example-callable"
	resultType     = "result-type"
	resultSize     = "result-size"
	concurrent     = "concurrency"
	deadlines      = "deadline"
	cancellation   = "cancellation"
	oversize       = "limits"
	dryRun         = "dry-run"
	idempotencyKey = "idempotency-key"
)

var rules = []Rule{
	{handshake, "initialize answers with version " + version + " and with limits that let requests through"},
	{defects, "no request is answered with an internal failure, an error that is no failure, or a panic"},
	{classes, "a failure has one of the classes not_found, domain, transient, stale and internal, a message, and a wait that is not negative"},
	{rootEntry, "there is a tree at /, and its root is the entry /"},
	{treeEnds, "a tree has at most 32 levels below its root and at most 250,000 entries"},
	{paths, "a path is absolute, of at most 1,024 bytes and 32 segments, none of them empty, a dot or two, longer than 128 bytes, or with #, \\, spaces at its ends or characters that cannot be seen"},
	{below, "the path of an entry lies below that of the entry that holds it"},
	{duplicates, "no two entries of a tree have one path"},
	{texts, "a title and a summary are one line of UTF-8 each, of at most 256 and 1,024 bytes, without control characters"},
	{objectID, "an Object's ID has 1 to 256 bytes, and is that of one Object: the same ID has the same interfaces everywhere"},
	{references, "an Object names at most 32 interfaces, each once, with their documents"},
	{fetchAgrees, "fetch answers for a path what the tree says of it"},
	{subtreeAgrees, "fetch_tree answers for a path what the tree at / holds there"},
	{tags, "an entry's tag changes if and only if something about the entry does, and has at most 256 bytes"},
	{since, "what fetch_tree says has changed since a tag makes the tree of then the tree of now"},
	{sinceUnknown, "of a tag that the Host does not know, fetch_tree answers with the whole tree"},
	{served, "every document that an Object or another document names is served: UTF-8, of at most 256 KiB"},
	{digests, "a document has the SHA-256 that its references give"},
	{compiles, "every document is without error (wipagent idl check)"},
	{declares, "a document declares the interfaces that references name"},
	{unknownText, "a document that does not exist is not_found"},
	{unknownEntry, "an entry that does not exist is not_found by fetch and fetch_tree alike, in the same words whatever the path"},
	{unknownCall, "a call of an entry, interface or operation that does not exist is not_found; one of another Object is not_found or stale"},
	{examples, "an example of a read-only operation can be called: it is not refused as unknown"},
	{resultType, "an operation returns the JSON form of its declared result type"},
	{resultSize, "a result has at most the bytes that its operation declares by @max_output"},
	{concurrent, "requests may be made at once, and each gets its own answer"},
	{deadlines, "a request ends soon after its deadline"},
	{cancellation, "a request ends soon after it is cancelled"},
	{oversize, "names of any length are answered, mostly with a failure, and never with a defect"},
	{dryRun, "a dry run changes nothing: the tree is the same after it"},
	{idempotencyKey, "a second call with one idempotency key is answered with the first one's result"},
}

// Rules returns all rules, in order.
func Rules() []Rule { return append([]Rule(nil), rules...) }
