// Package embedded is a small Elasticsearch inside this process, for benchmarks on machines that
// have none: an HTTP server that responses the calls of the locations service as Elasticsearch 7.10.2
// does, filled by a call of Fill. The same questions bring the same documents in the same order with
// the same scores; a test asks both and compares. What it does not know is refused with status 501,
// the error type not_supported_by_embedded_store and the name of the unknown part: a wrong response
// would be worse than none. What would change it is refused with 403.
//
// It keeps sources as they came and serves them by id without parsing anything, at a fraction of
// Elasticsearch's CPU time. Scores are computed as Lucene does (score.go, eval.go), geometry is
// Lucene's 32-bit grid (geo.go). All is in memory, and does not change once it is there. Starting
// and choosing a store is left to the package above.
//
// # Calls
//
//	GET    /  /_cluster/health  /_nodes/http
//	HEAD   /<index>
//	POST   /<index>/_refresh                    before a count
//	GET    /<index>/_source/<id>  _doc/<id>     with _source, _source_includes, _source_excludes: whole keys
//	POST   /<index>/_count                      of all documents
//	POST   /<index>/_search                     size, sort, _source, track_total_hits, and as queries match_all, term on
//	       keywords and booleans, bool (one must, filter), geo_shape with a point, multi_match of type bool_prefix on
//	       search_as_you_type fields, and function_score with one field_value_factor of ln2p; sorted by fields or
//	       _geo_distance
//
// These are what the locations service needs. Options that clients write out though they are the
// defaults are accepted (defaults in query.go).
//
// Where a response is given, docs/store.md says in what it differs from Elasticsearch's.
package embedded
