// Package embedded is a small Elasticsearch inside this process, for benchmarks on machines that
// have none: an HTTP server that responds to the calls of the locations service as Elasticsearch
// 7.10.2 does. Fill fills it. The same queries return the same documents in the same order with the
// same scores; a test compares both. It refuses unsupported calls with status 501, the error type
// not_supported_by_embedded_store and the name of the unsupported part: a wrong response would be
// worse than none. It refuses changes with 403.
//
// It keeps sources unchanged and serves them by id without parsing anything, at a fraction of
// Elasticsearch's CPU time. It computes scores as Lucene does (score.go, eval.go), and geometry on
// Lucene's 32-bit grid (geo.go). All data is in memory and does not change after Fill. Package
// store chooses and starts a store.
//
// # Calls
//
//	GET    /  /_cluster/health  /_nodes/http
//	HEAD   /<index>
//	POST   /<index>/_refresh                    before a count
//	GET    /<index>/_source/<id>  _doc/<id>     _source, _source_includes, _source_excludes (keys)
//	POST   /<index>/_count                      of all documents
//	POST   /<index>/_search                     size, sort (fields, _geo_distance), _source,
//	       track_total_hits; queries: match_all, term (keywords, booleans), bool (one must, filter),
//	       geo_shape (a point), multi_match (bool_prefix on search_as_you_type fields),
//	       function_score (one field_value_factor with ln2p)
//
// The locations service needs these calls. Options that clients write out with their default value
// are accepted (defaults in query.go).
//
// docs/store.md lists how the responses differ from Elasticsearch's.
package embedded
