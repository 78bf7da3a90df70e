// Package embedded is a small Elasticsearch inside this process, for benchmarks on machines that
// have none: an HTTP server that responds to the calls of the locations service. Fill fills it. The
// same queries return the same documents in the same order as from Elasticsearch 7.10.2; a test
// holds it against recorded responses. Anything else is refused with status 400 and the name and
// place of the unsupported part: a wrong response would be worse than none.
//
// It reads no mapping. Documents of any form are served by id; queries read the fields of the
// locations service (document.go) and are refused if a document has one of them in another form.
// All data is in memory and does not change after Fill.
//
// # Calls
//
//	GET   /
//	GET   /<index>/_source/<id>
//	GET   /<index>/_count
//	POST  /<index>/_search        size and, in the forms of query.go,
//	      featured                term isFeatured, sort by countryIso and descending population
//	      containing a point      bool filter geo_shape, with term isFeatured or without
//	      nearest to a point      match_all or term isFeatured, sort by _geo_distance of centroid
//	      by name                 function_score of population over a multi_match of the names
//
// The only query parameter is _source_excludes=geometry,population, for documents without both.
//
// docs/store.md lists how the store differs from Elasticsearch.
package embedded
