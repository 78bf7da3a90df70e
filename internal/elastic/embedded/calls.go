package embedded

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"strings"
)

// rootAnswer says "default" and not "oss", since newer clients of version 7 look for it.
const rootAnswer = `{"name":"locbench-embedded","cluster_name":"locbench-embedded","cluster_uuid":"bG9jYmVuY2gtZW1iZWRkZQ",` +
	`"version":{"number":"` + Version + `","build_flavor":"default","build_type":"embedded","build_hash":"747e1cc71def077253878a59143c1f785afa92b9",` +
	`"build_date":"2021-01-13T00:42:12.435326Z","build_snapshot":false,"lucene_version":"8.7.0",` +
	`"minimum_wire_compatibility_version":"6.8.0","minimum_index_compatibility_version":"6.0.0-beta1"},"tagline":"You Know, for Search"}`

const healthAnswer = `{"cluster_name":"locbench-embedded","status":"green","timed_out":false,"number_of_nodes":1,"number_of_data_nodes":1,` +
	`"active_primary_shards":1,"active_shards":1,"relocating_shards":0,"initializing_shards":0,"unassigned_shards":0,` +
	`"delayed_unassigned_shards":0,"number_of_pending_tasks":0,"number_of_in_flight_fetch":0,"task_max_waiting_in_queue_millis":0,` +
	`"active_shards_percent_as_number":100.0}`

var acknowledged = json.RawMessage(`{"acknowledged":true}`)

type table = map[string]any

// nodes answers a client that looks for the nodes of the cluster: the one that it has asked.
func (s *Server) nodes(c call) (any, error) {
	return table{"cluster_name": "locbench-embedded", "nodes": table{"embedded": table{
		"name": "locbench-embedded", "version": Version, "build_flavor": "default", "host": c.Host,
		"roles": []string{"data", "ingest", "master"},
		"http":  table{"publish_address": c.Host, "bound_address": []string{c.Host}},
	}}}, nil
}

type shardCounts struct {
	Total      int  `json:"total"`
	Successful int  `json:"successful"`
	Skipped    *int `json:"skipped,omitempty"`
	Failed     int  `json:"failed"`
}

// get answers by id, with the source alone or with what stands around it.
func (s *Server) get(c call) (any, error) {
	filter, err := s.getFilter(c.URL)
	if err != nil {
		return nil, err
	}
	ix, err := s.cluster.resolve(c.index)
	if err != nil {
		return nil, err
	}
	doc, found := ix.lookup(c.id)
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
		return json.RawMessage(filter.apply(make([]byte, 0, 512), &doc)), nil
	}
	if !found {
		return answer{404, table{"_index": ix.name, "_type": "_doc", "_id": c.id, "found": false}}, nil
	}
	out := append([]byte(`{"_index":`), quote(ix.name)...)
	out = append(append(out, `,"_type":"_doc","_id":`...), quote(c.id)...)
	out = append(out, `,"_version":1,"_seq_no":0,"_primary_term":1,"found":true`...)
	if !off {
		out = filter.apply(append(out, `,"_source":`...), &doc)
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

func (s *Server) create(c call) (any, error) {
	return struct {
		Acknowledged bool   `json:"acknowledged"`
		Shards       bool   `json:"shards_acknowledged"`
		Index        string `json:"index"`
	}{true, true, c.index}, s.cluster.create(c.index, c.body)
}

func (s *Server) remove(c call) (any, error) { return acknowledged, s.cluster.remove(c.index) }

func (s *Server) changeAliases(c call) (any, error) {
	actions, err := parseAliasActions(c.body)
	if err != nil {
		return nil, err
	}
	return acknowledged, s.cluster.change(actions)
}

func (s *Server) putSettings(c call) (any, error) {
	ix, err := s.cluster.resolve(c.index)
	if err != nil {
		return nil, err
	}
	return acknowledged, ix.changeSettings(c.body)
}

// describe answers GET /<index>, and HEAD, which asks whether there is such an index.
func (s *Server) describe(c call) (any, error) {
	if c.Method == http.MethodHead && c.name == "" {
		_, err := s.cluster.resolve(c.index)
		return nil, err
	}
	return s.ofEach(c, func(ix *index) any {
		ix.mu.RLock()
		settings := maps.Clone(ix.settings)
		ix.mu.RUnlock()
		settings["provided_name"] = quote(ix.name)
		return table{"aliases": s.cluster.aliasesOf(ix.name), "mappings": ix.raw, "settings": table{"index": settings}}
	})
}

func (s *Server) getAliases(c call) (any, error) {
	return s.ofEach(c, func(ix *index) any { return table{"aliases": s.cluster.aliasesOf(ix.name)} })
}

func (s *Server) getMapping(c call) (any, error) {
	return s.ofEach(c, func(ix *index) any { return table{"mappings": ix.raw} })
}

// ofEach answers with what of returns for each index that the call names.
func (s *Server) ofEach(c call, of func(*index) any) (any, error) {
	list, err := s.cluster.named(c.index)
	out := table{}
	for _, ix := range list {
		out[ix.name] = of(ix)
	}
	return out, err
}

func (s *Server) refresh(c call) (any, error) {
	list, err := s.cluster.named(c.index)
	for _, ix := range list {
		if err := ix.refresh(); err != nil {
			return nil, err
		}
	}
	return map[string]shardCounts{"_shards": {Total: len(list), Successful: len(list)}}, err
}

// count knows the number of all documents of an index, without a query.
func (s *Server) count(c call) (any, error) {
	if err := onlyNeutral(c.URL.Query()); err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(c.body)) > 0 {
		o := new(mistake).object("the body", c.body)
		q := o.take("query")
		if q != nil && !strings.HasPrefix(strings.Join(strings.Fields(string(q)), ""), `{"match_all":{`) {
			return nil, unsupported("_count with a query other than match_all")
		}
		if err := o.rest(); err != nil {
			return nil, err
		}
	}
	list, err := s.cluster.named(c.index)
	total := 0
	for _, ix := range list {
		total += ix.count()
	}
	return struct {
		Count  int         `json:"count"`
		Shards shardCounts `json:"_shards"`
	}{total, shardCounts{Total: len(list), Successful: len(list), Skipped: new(int)}}, err
}

func (s *Server) putDocument(c call) (any, error) {
	q := c.URL.Query()
	if err := errOr(onlyNeutral(q, "op_type"), badID(c.id)); err != nil {
		return nil, err
	}
	ix, err := s.cluster.resolve(c.index)
	if err != nil {
		return nil, err
	}
	d, err := ix.mapping.parseDocument(c.id, c.body)
	if err != nil {
		return nil, err
	}
	docs := []put{{doc: d, create: c.name == "_create" || q.Get("op_type") == "create"}}
	ix.put(docs)
	status, result := putResult(docs[0].created)
	return written(ix, c.id, status, result), docs[0].err
}

func (s *Server) deleteDocument(c call) (any, error) {
	if err := onlyNeutral(c.URL.Query()); err != nil {
		return nil, err
	}
	ix, err := s.cluster.resolve(c.index)
	if err != nil {
		return nil, err
	}
	found, err := ix.remove(c.id)
	status, result := removeResult(found)
	return written(ix, c.id, status, result), err
}

func putResult(created bool) (status int, result string) {
	if created {
		return http.StatusCreated, "created"
	}
	return http.StatusOK, "updated"
}

func removeResult(found bool) (status int, result string) {
	if found {
		return http.StatusOK, "deleted"
	}
	return http.StatusNotFound, "not_found"
}

func written(ix *index, id string, status int, result string) answer {
	return answer{status, struct {
		Index   string      `json:"_index"`
		Type    string      `json:"_type"`
		ID      string      `json:"_id"`
		Version int         `json:"_version"`
		Result  string      `json:"result"`
		Shards  shardCounts `json:"_shards"`
		SeqNo   int         `json:"_seq_no"`
		Term    int         `json:"_primary_term"`
	}{ix.name, "_doc", id, 1, result, shardCounts{Total: 1, Successful: 1}, 0, 1}}
}

const maxIDBytes = 512

func badID(id string) error {
	if id == "" || len(id) > maxIDBytes {
		return badRequest("illegal_argument_exception", "id must be of 1 to %d bytes, but was %d", maxIDBytes, len(id))
	}
	return nil
}
