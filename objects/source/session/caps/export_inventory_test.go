package caps

// RunBounded is Crawl.Run with a smaller bound of items.
var RunBounded = (*Crawl).run
