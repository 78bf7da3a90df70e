// Package embedded is a small Elasticsearch inside this process, for benchmarks on machines that
// have none: an HTTP server that answers the calls of the locations service, and those that fill
// it, as Elasticsearch 7.10.2 does. The same questions bring the same documents in the same order
// with the same scores; a test asks both and compares. What it does not know is refused with status
// 501, the error type not_supported_by_embedded_store and the name of the unknown part: a wrong
// answer would be worse than none.
//
// It keeps sources as they came and serves them by id without parsing anything, at a fraction of
// Elasticsearch's CPU time. Terms and postings are bleve's (textindex.go), scores are computed as
// Lucene does (score.go, eval.go), geometry is Lucene's 32-bit grid (geo.go). All is in memory,
// nothing on disk. Starting, seeding and choosing a store is left to the packages above.
//
// # Calls
//
//	GET    /  /_cluster/health  /_nodes/http
//	PUT, GET, HEAD, DELETE /<index>
//	GET    /<index>/_mapping  _settings  _alias, also /_mapping and /_alias
//	PUT    /<index>/_settings
//	PUT    /_cluster/settings                   cluster.blocks.read_only, which seals the store (seal.go)
//	POST   /_aliases                            add, remove, remove_index; all or nothing
//	POST   /_bulk  /<index>/_bulk               index, create, delete
//	PUT    /<index>/_doc/<id>  _create/<id>;  DELETE /<index>/_doc/<id>
//	POST   /<index>/_refresh  _flush  _forcemerge
//	GET    /<index>/_source/<id>  _doc/<id>     with _source, _source_includes, _source_excludes
//	POST   /<index>/_count                      of all documents
//	POST   /<index>/_search                     from, size, sort, _source, track_total_hits, and as queries match_all,
//	       match_none, term, bool (must, filter), geo_shape with a point, multi_match of type bool_prefix on
//	       search_as_you_type fields, and function_score with one field_value_factor; sorted by fields or _geo_distance
//
// # Deviations
//
// Where an answer is given, it differs from Elasticsearch 7.10.2 in this:
//
//   - Searches see every document at once; Elasticsearch shows it after a refresh, by default within a second.
//   - Equal scores and sort values are ordered by the time of coming. In Elasticsearch that is so within a segment: merges
//     and several bulk workers may change it.
//   - A replaced or deleted document leaves the statistics behind the scores at once, in Elasticsearch with the next merge.
//   - No field is mapped and no index is made by itself: a query of an unmapped field (unless dynamic is false or strict)
//     and a bulk request to a missing index are refused with 501.
//   - A field of type text is searchable by its sub-fields only. Fields of other types than text, search_as_you_type, keyword,
//     boolean, the integer types, geo_point and geo_shape are kept in the source but cannot be queried.
//   - Shapes are GeoJSON points and polygons, single or multi, not across the date line; others are rejected with the
//     document. Self-intersecting polygons are accepted, which Elasticsearch rejects; their inside is by the even-odd rule.
//   - A filtered source keeps the order of keys and the spelling of numbers; Elasticsearch writes it anew. Duplicate keys are
//     not rejected.
//   - _version is always 1, _seq_no always 0, there is one shard without replicas, and settings other than analysis have no
//     effect. filter_path is ignored: the answer is fuller. Answers are never compressed.
//   - Words are cut by the Unicode rules of bleve's segmenter, which is of another Unicode version than Lucene's and makes no
//     terms of emoji; a word of more than 255 characters outside the basic plane is cut later.
//   - Reasons in errors are worded differently; statuses and, mostly, types are the same.
package embedded
