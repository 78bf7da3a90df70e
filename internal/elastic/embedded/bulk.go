package embedded

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"
)

type operation struct {
	op     string // index, create, delete
	index  string
	id     string
	source []byte // nil for delete; a part of the body
}

// parseBulk splits a bulk body. index is that of the path, "" where there was none.
func parseBulk(body []byte, index string) ([]operation, error) {
	var ops []operation
	for line := 1; len(bytes.TrimSpace(body)) > 0; line++ {
		var header []byte
		var ok bool
		header, body, ok = bytes.Cut(body, []byte("\n"))
		if len(bytes.TrimSpace(header)) == 0 {
			continue
		}
		if !ok {
			return nil, badRequest("illegal_argument_exception", "The bulk request must be terminated by a newline [\\n]")
		}
		op, err := parseAction(header, index, line)
		if err != nil {
			return nil, err
		}
		if op.op != "delete" {
			if op.source, body, ok = bytes.Cut(body, []byte("\n")); !ok {
				return nil, badRequest("illegal_argument_exception", "The bulk request must be terminated by a newline [\\n]")
			}
			line++
		}
		ops = append(ops, op)
	}
	if len(ops) == 0 {
		return nil, badRequest("action_request_validation_exception", "Validation Failed: 1: no requests added;")
	}
	return ops, nil
}

func parseAction(header []byte, index string, line int) (operation, error) {
	var mistake mistake
	o := mistake.object(fmt.Sprintf("line %d of the bulk body", line), header)
	if mistake.err != nil {
		return operation{}, badRequest("illegal_argument_exception", "Malformed action/metadata line [%d], expected an object", line)
	}
	for _, name := range []string{"index", "create", "delete", "update"} {
		raw := o.take(name)
		if raw == nil {
			continue
		}
		if name == "update" {
			return operation{}, unsupported("update in a bulk body")
		}
		op := operation{op: name, index: index}
		meta := o.object(name+" in line "+strconv.Itoa(line), raw)
		if v := meta.take("_index"); v != nil && json.Unmarshal(v, &op.index) != nil {
			return op, badRequest("illegal_argument_exception", "Malformed _index in line [%d]", line)
		}
		if v := meta.take("_id"); v != nil && json.Unmarshal(v, &op.id) != nil {
			op.id = string(v) // Elasticsearch takes a number as well
		}
		meta.ignore("_type", "routing", "_routing", "require_alias")
		return op, errOr(meta.rest(), o.rest())
	}
	return operation{}, badRequest("illegal_argument_exception", "Malformed action/metadata line [%d], expected one of [create, delete, index]", line)
}

type bulkItem struct {
	Index  string      `json:"_index"`
	Type   string      `json:"_type"`
	ID     string      `json:"_id"`
	Status int         `json:"status"`
	Result string      `json:"result,omitempty"`
	Error  *errorCause `json:"error,omitempty"`
}

func (s *Server) bulk(c call) (any, error) {
	start := time.Now()
	if err := onlyNeutral(c.URL.Query()); err != nil { // before so large a body is read
		return nil, err
	}
	body, err := readBody(c.Request, maxBulkBody)
	if err != nil {
		return nil, err
	}
	ops, err := parseBulk(body, c.index)
	if err != nil {
		return nil, err
	}
	items := make([]bulkItem, len(ops))
	for from := 0; from < len(ops); { // runs of writes to one index go in together
		to := from + 1
		for to < len(ops) && ops[to].index == ops[from].index && (ops[to].op == "delete") == (ops[from].op == "delete") {
			to++
		}
		if err := s.apply(ops[from:to], items[from:to]); err != nil {
			return nil, err
		}
		from = to
	}
	out := struct {
		Took   int64                 `json:"took"`
		Errors bool                  `json:"errors"`
		Items  []map[string]bulkItem `json:"items"`
	}{Took: time.Since(start).Milliseconds(), Items: make([]map[string]bulkItem, len(ops))}
	for i, it := range items {
		out.Errors = out.Errors || it.Error != nil
		out.Items[i] = map[string]bulkItem{ops[i].op: it}
	}
	return out, nil
}

// apply runs operations of one kind on one index. It fails only where the store has no answer.
func (s *Server) apply(ops []operation, items []bulkItem) error {
	ix, err := s.cluster.resolve(ops[0].index)
	if err != nil {
		if asAPI(err).status == http.StatusNotFound {
			return unsupported("the index %q: make it first, it is not made by a bulk request", shorten(ops[0].index))
		}
		return err
	}
	if ops[0].op == "delete" {
		for i, op := range ops {
			found, err := ix.remove(op.id)
			status, result := removeResult(found)
			items[i] = newItem(ix, op.id, status, result, err)
		}
		return nil
	}
	docs := make([]put, len(ops))
	for i, op := range ops {
		d := &docs[i]
		if op.id == "" {
			op.id = fmt.Sprintf("embedded-%012d", s.ids.Add(1))
			ops[i].id = op.id
		}
		d.create = op.op == "create"
		if d.err = badID(op.id); d.err == nil {
			// The body goes when the last of its documents does, so each gets memory of its own.
			d.doc, d.err = ix.mapping.parseDocument(op.id, slices.Clone(bytes.TrimSpace(op.source)))
		}
	}
	ix.put(docs)
	for i, d := range docs {
		status, result := putResult(d.created)
		items[i] = newItem(ix, ops[i].id, status, result, d.err)
	}
	return nil
}

func newItem(ix *index, id string, status int, result string, err error) bulkItem {
	it := bulkItem{ix.name, "_doc", id, status, result, nil}
	if err != nil {
		api := asAPI(err)
		cause := api.cause()
		it.Status, it.Result, it.Error = api.status, "", &cause
	}
	return it
}
