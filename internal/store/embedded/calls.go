package embedded

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// rootAnswer says "default" and not "oss", since newer clients of version 7 look for it.
const rootAnswer = `{"name":"locbench-embedded","cluster_name":"locbench-embedded",` +
	`"cluster_uuid":"bG9jYmVuY2gtZW1iZWRkZQ",` +
	`"version":{"number":"` + Version + `","build_flavor":"default","build_type":"embedded",` +
	`"build_hash":"747e1cc71def077253878a59143c1f785afa92b9",` +
	`"build_date":"2021-01-13T00:42:12.435326Z","build_snapshot":false,"lucene_version":"8.7.0",` +
	`"minimum_wire_compatibility_version":"6.8.0","minimum_index_compatibility_version":"6.0.0-beta1"},` +
	`"tagline":"You Know, for Search"}`

const healthAnswer = `{"cluster_name":"locbench-embedded","status":"green","timed_out":false,"number_of_nodes":1,` +
	`"number_of_data_nodes":1,` +
	`"active_primary_shards":1,"active_shards":1,"relocating_shards":0,"initializing_shards":0,"unassigned_shards":0,` +
	`"delayed_unassigned_shards":0,"number_of_pending_tasks":0,"number_of_in_flight_fetch":0,` +
	`"task_max_waiting_in_queue_millis":0,` +
	`"active_shards_percent_as_number":100.0}`

type table = map[string]any

// nodes answers a client that looks for the nodes of the cluster: the one that it has asked.
func nodes(c call) table {
	return table{"cluster_name": "locbench-embedded", "nodes": table{"embedded": table{
		"name": "locbench-embedded", "version": Version, "build_flavor": "default", "host": c.Host,
		"roles": []string{"data", "ingest", "master"},
		"http":  table{"publish_address": c.Host, "bound_address": []string{c.Host}},
	}}}
}

// oneShard is what an answer says of the shards of an index.
const oneShard = `{"total":1,"successful":1,"skipped":0,"failed":0}`

// resolve finds an index by its name or alias.
func (s *Server) resolve(name string) (*index, error) {
	if ix := s.contents.Load().byName[name]; ix != nil {
		return ix, nil
	}
	if name == "_all" || strings.ContainsAny(name, "*,") {
		return nil, unsupported("an expression of index names (%s)", name)
	}
	return nil, &apiError{status: http.StatusNotFound, kind: "index_not_found_exception",
		reason: "no such index [" + name + "]", index: name}
}

// get answers by id, with the source alone or with what stands around it.
func (s *Server) get(c call) (any, error) {
	filter, err := s.getFilter(c.URL)
	if err != nil {
		return nil, err
	}
	ix, err := s.resolve(c.index)
	if err != nil {
		return nil, err
	}
	ordinal, found := ix.byID[c.id]
	off := filter != nil && filter.off
	if c.name == "_source" {
		switch {
		case !found:
			return nil, &apiError{status: http.StatusNotFound, kind: "resource_not_found_exception",
				reason: "Document not found [" + c.index + "]/[_doc]/[" + shorten(c.id) + "]"}
		case off:
			return nil, badRequest("action_request_validation_exception",
				"Validation Failed: 1: fetching source can not be disabled;")
		}
		return json.RawMessage(filter.apply(make([]byte, 0, 512), &ix.docs[ordinal])), nil
	}
	if !found {
		return answer{404, table{"_index": ix.name, "_type": "_doc", "_id": c.id, "found": false}}, nil
	}
	out := append([]byte(`{"_index":`), quote(ix.name)...)
	out = append(append(out, `,"_type":"_doc","_id":`...), quote(c.id)...)
	out = append(out, `,"_version":1,"_seq_no":0,"_primary_term":1,"found":true`...)
	if !off {
		out = filter.apply(append(out, `,"_source":`...), &ix.docs[ordinal])
	}
	return json.RawMessage(append(out, '}')), nil
}

const (
	maxKeptFilters = 256
	maxKeptQuery   = 1024
)

// getFilter reads the query parameters of a call by id. A contender sends the same ones with each
// of its calls, so what they mean is kept.
func (s *Server) getFilter(u *url.URL) (*sourceFilter, error) {
	if kept, ok := s.filters.Load(u.RawQuery); ok {
		return kept.(*sourceFilter), nil
	}
	q := u.Query()
	filter, err := sourceParams(q)
	if err := errOr(err, onlyNeutral(q, sourceKeys...)); err != nil {
		return nil, err
	}
	if len(u.RawQuery) <= maxKeptQuery && s.keptFilters.Add(1) <= maxKeptFilters {
		s.filters.Store(u.RawQuery, filter)
	}
	return filter, nil
}

func quote(s string) []byte {
	b, _ := json.Marshal(s) // a string can always be written
	return b
}

// count answers with the number of all documents of an index, as locbench asks for it.
func (s *Server) count(c call) (any, error) {
	body, err := readBody(c.Request)
	if err := errOr(onlyNeutral(c.URL.Query()), err); err != nil {
		return nil, err
	}
	if len(body) > 0 {
		return nil, unsupported("_count with a query")
	}
	ix, err := s.resolve(c.index)
	if err != nil {
		return nil, err
	}
	return json.RawMessage(`{"count":` + strconv.Itoa(len(ix.docs)) + `,"_shards":` + oneShard + `}`), nil
}
