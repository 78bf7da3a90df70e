package embedded

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"strconv"
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

// nodes answers a client that looks for the nodes of the cluster: there is the one that it has
// asked.
func nodes(host string) any {
	type m = map[string]any
	return m{"cluster_name": "locbench-embedded", "nodes": m{"embedded": m{
		"name": "locbench-embedded", "version": Version, "build_flavor": "default", "host": host,
		"roles": []string{"data", "ingest", "master"}, "http": m{"publish_address": host, "bound_address": []string{host}},
	}}}
}

type shardCounts struct {
	Total      int  `json:"total"`
	Successful int  `json:"successful"`
	Skipped    *int `json:"skipped,omitempty"`
	Failed     int  `json:"failed"`
}

// get answers by id, with the source alone or with what stands around it.
func (s *Server) get(w http.ResponseWriter, r *http.Request, name, id string, sourceOnly bool) error {
	filter, err := s.getFilter(r.URL)
	if err != nil {
		return err
	}
	ix, err := s.cluster.resolve(name)
	if err != nil {
		return err
	}
	doc, found := ix.lookup(id)
	switch {
	case !found && sourceOnly:
		return notFound(name, id)
	case !found:
		writeJSON(w, http.StatusNotFound, map[string]any{"_index": ix.name, "_type": "_doc", "_id": id, "found": false})
		return nil
	case sourceOnly && filter != nil && filter.off:
		return badRequest("action_request_validation_exception", "Validation Failed: 1: fetching source can not be disabled;")
	case sourceOnly:
		writeBody(w, http.StatusOK, filter.apply(make([]byte, 0, 512), &doc))
		return nil
	}
	out := append([]byte(`{"_index":`), quote(ix.name)...)
	out = append(append(out, `,"_type":"_doc","_id":`...), quote(id)...)
	out = append(out, `,"_version":1,"_seq_no":0,"_primary_term":1,"found":true`...)
	if filter == nil || !filter.off {
		out = filter.apply(append(out, `,"_source":`...), &doc)
	}
	writeBody(w, http.StatusOK, append(out, '}'))
	return nil
}

// getFilter reads the query parameters of a call by id. A contender sends the same ones with each
// of its calls, so what they mean is kept.
func (s *Server) getFilter(u *url.URL) (*sourceFilter, error) {
	if kept, ok := s.filters.Load(u.RawQuery); ok {
		return kept.(*sourceFilter), nil
	}
	q := u.Query()
	filter, err := sourceParams(q)
	if err != nil {
		return nil, err
	}
	if err := onlyNeutral(q, "_source", "_source_includes", "_source_include", "_source_excludes", "_source_exclude"); err != nil {
		return nil, err
	}
	if len(u.RawQuery) <= maxKeptQuery && s.keptFilters.Add(1) <= maxKeptFilters {
		s.filters.Store(u.RawQuery, filter)
	}
	return filter, nil
}

const (
	maxKeptFilters = 256
	maxKeptQuery   = 1024
)

func notFound(name, id string) *apiError {
	return &apiError{status: http.StatusNotFound, kind: "resource_not_found_exception", reason: "Document not found [" + name + "]/[_doc]/[" + shorten(id) + "]"}
}

func quote(s string) []byte {
	b, err := json.Marshal(s)
	if err != nil {
		return []byte(`""`) // a string can always be written
	}
	return b
}

// describe answers GET /<index>.
func (s *Server) describe(w http.ResponseWriter, name string) error {
	list, err := s.cluster.named(name)
	if err != nil {
		return err
	}
	type description struct {
		Aliases  map[string]struct{}                   `json:"aliases"`
		Mappings json.RawMessage                       `json:"mappings"`
		Settings map[string]map[string]json.RawMessage `json:"settings"`
	}
	out := map[string]description{}
	for _, ix := range list {
		ix.mu.RLock()
		settings := maps.Clone(ix.settings)
		ix.mu.RUnlock()
		settings["provided_name"] = quote(ix.name)
		out[ix.name] = description{s.aliasSet(ix.name), ix.raw, map[string]map[string]json.RawMessage{"index": settings}}
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}

func (s *Server) aliasSet(name string) map[string]struct{} {
	set := map[string]struct{}{}
	for _, a := range s.cluster.aliasesOf(name) {
		set[a] = struct{}{}
	}
	return set
}

func (s *Server) getAliases(w http.ResponseWriter, name string) error {
	list, err := s.cluster.named(name)
	if err != nil {
		return err
	}
	type aliases struct {
		Aliases map[string]struct{} `json:"aliases"`
	}
	out := map[string]aliases{}
	for _, ix := range list {
		out[ix.name] = aliases{s.aliasSet(ix.name)}
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}

func (s *Server) getMapping(w http.ResponseWriter, name string) error {
	list, err := s.cluster.named(name)
	if err != nil {
		return err
	}
	type mappings struct {
		Mappings json.RawMessage `json:"mappings"`
	}
	out := map[string]mappings{}
	for _, ix := range list {
		out[ix.name] = mappings{ix.raw}
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}

func (s *Server) refresh(w http.ResponseWriter, name string) error {
	list, err := s.cluster.named(name)
	if err != nil {
		return err
	}
	for _, ix := range list {
		if err := ix.refresh(); err != nil {
			return err
		}
	}
	writeJSON(w, http.StatusOK, map[string]shardCounts{"_shards": {Total: len(list), Successful: len(list)}})
	return nil
}

// count knows the number of all documents of an index, without a query.
func (s *Server) count(w http.ResponseWriter, r *http.Request, name string) error {
	body, err := readBody(r, maxSearchBody)
	if err != nil {
		return err
	}
	if err := onlyNeutral(r.URL.Query()); err != nil {
		return err
	}
	if text := strings.TrimSpace(string(body)); text != "" {
		o, err := parseObject("the body", body)
		if err != nil {
			return err
		}
		if q := o.take("query"); q != nil && !strings.HasPrefix(strings.Join(strings.Fields(string(q)), ""), `{"match_all":{`) {
			return unsupported("_count with a query other than match_all")
		}
		if err := o.rest(); err != nil {
			return err
		}
	}
	list, err := s.cluster.named(name)
	if err != nil {
		return err
	}
	total := 0
	for _, ix := range list {
		total += ix.count()
	}
	zero := 0
	writeJSON(w, http.StatusOK, struct {
		Count  int         `json:"count"`
		Shards shardCounts `json:"_shards"`
	}{total, shardCounts{Total: len(list), Successful: len(list), Skipped: &zero}})
	return nil
}

type writeResult struct {
	Index   string      `json:"_index"`
	Type    string      `json:"_type"`
	ID      string      `json:"_id"`
	Version int         `json:"_version"`
	Result  string      `json:"result"`
	Shards  shardCounts `json:"_shards"`
	SeqNo   int         `json:"_seq_no"`
	Term    int         `json:"_primary_term"`
}

func (s *Server) putDocument(w http.ResponseWriter, r *http.Request, name, id string, create bool) error {
	body, err := readBody(r, maxBulkBody)
	if err != nil {
		return err
	}
	if err := onlyNeutral(r.URL.Query(), "op_type"); err != nil {
		return err
	}
	if err := badID(id); err != nil {
		return err
	}
	ix, err := s.cluster.resolve(name)
	if err != nil {
		return err
	}
	d, err := ix.mapping.parseDocument(id, body)
	if err != nil {
		return err
	}
	created, errs := ix.put([]*parsed{d}, []bool{create})
	if errs[0] != nil {
		return errs[0]
	}
	status, result := http.StatusOK, "updated"
	if created[0] {
		status, result = http.StatusCreated, "created"
	}
	writeJSON(w, status, writeResult{ix.name, "_doc", id, 1, result, shardCounts{Total: 1, Successful: 1}, 0, 1})
	return nil
}

func (s *Server) deleteDocument(w http.ResponseWriter, r *http.Request, name, id string) error {
	if err := onlyNeutral(r.URL.Query()); err != nil {
		return err
	}
	ix, err := s.cluster.resolve(name)
	if err != nil {
		return err
	}
	found, err := ix.remove(id)
	if err != nil {
		return err
	}
	status, result := http.StatusOK, "deleted"
	if !found {
		status, result = http.StatusNotFound, "not_found"
	}
	writeJSON(w, status, writeResult{ix.name, "_doc", id, 1, result, shardCounts{Total: 1, Successful: 1}, 0, 1})
	return nil
}

const maxIDBytes = 512

func badID(id string) error {
	if id == "" || len(id) > maxIDBytes {
		return badRequest("illegal_argument_exception", "id must be of 1 to %d bytes, but was %d", maxIDBytes, len(id))
	}
	return nil
}

func byteCount(n int64) string { return strconv.FormatInt(n>>20, 10) + " MiB" }
