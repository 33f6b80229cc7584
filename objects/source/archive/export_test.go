package archive

// Limits lets tests lower the bounds.
type Limits = limits

// LoadLimited is Load with bounds of the test's own.
var LoadLimited = load

// DefaultLimits returns the bounds of Load.
func DefaultLimits() Limits { return defaults }

// Entries sets how many tar entries there may be.
func (l Limits) Entries(n int) Limits { l.entries = n; return l }

// Total sets how many bytes may be unpacked.
func (l Limits) Total(n int64) Limits { l.total = n; return l }

// Bomb sets when and how much unpacking becomes suspicious.
func (l Limits) Bomb(bytes, ratio int64) Limits { l.bomb, l.ratio = bytes, ratio; return l }

// Texts sets how many bytes of text are kept.
func (l Limits) Texts(n int) Limits { l.texts = n; return l }

// Bounds that tests step over.
const MaxWarnings = maxWarnings
