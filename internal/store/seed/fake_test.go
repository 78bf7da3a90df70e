package seed

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/locbench/locbench/internal/bench"
)

// fake is the part of Elasticsearch that seeding uses, kept in maps. It behaves like it: a
// refresh makes documents countable, create of an existing id is a conflict, aliases change all or
// nothing, unknown indices are 404, a bulk to an unknown index makes it (as Elasticsearch does
// unless set otherwise), and a wrong body is a 400.
type fake struct {
	*httptest.Server
	network *memory
	t       testing.TB

	mu      sync.Mutex
	indices map[string]*fakeIndex
	calls   []string // method and path, without bulks
	bulks   int
	root    said            // in response to GET /
	fixed   map[string]said // to other calls, by method and path, in place of the usual responses

	before func(w http.ResponseWriter, r *http.Request) bool // true: it has responded itself; called without the lock, the body unread
	kind   string                                            // error type for documents and bulks; "": a default
	onCall func(r *http.Request) int                         // status to return instead; 0: continue
	onBulk func(n int) (status int, taken bool)              // status of a bulk, numbered from 1, or 0; taken: do the work first
	onDoc  func(n int, id string) (status int, _ string)     // status and reason for one document of bulk n; 0: take it
}

// said is what a server said.
type said struct {
	status int
	body   string
}

type fakeIndex struct {
	mappings, settings json.RawMessage
	aliases            map[string]bool
	docs               map[string]string
	visible            int
}

func newFake(t testing.TB) *fake {
	f := &fake{t: t, indices: make(map[string]*fakeIndex), root: said{200, `{"version":{"number":"7.10.2"}}`}}
	f.network = newMemory()
	f.Server = httptest.NewUnstartedServer(http.HandlerFunc(f.serve))
	f.Listener.Close()
	f.Listener = f.network
	f.Start()
	t.Cleanup(f.Close)
	return f
}

func (f *fake) add(name string, mappings string, aliases ...string) *fakeIndex {
	index := &fakeIndex{mappings: json.RawMessage(mappings), aliases: make(map[string]bool), docs: make(map[string]string)}
	for _, a := range aliases {
		index.aliases[a] = true
	}
	f.indices[name] = index
	return index
}

type aliasTarget struct{ Index, Alias string }

type aliasAction struct{ Remove, Add *aliasTarget }

// state says "index>alias,alias:count" for all indices.
func (f *fake) state() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []string
	for _, name := range slices.Sorted(maps.Keys(f.indices)) {
		index := f.indices[name]
		all = append(all, fmt.Sprintf("%s>%s:%d", name, strings.Join(slices.Sorted(maps.Keys(index.aliases)), ","), index.visible))
	}
	return strings.Join(all, " ")
}

func (f *fake) serve(w http.ResponseWriter, r *http.Request) {
	if f.before == nil || !f.before(w, r) {
		f.response(w, r)
	}
}

func (f *fake) response(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength < 0 {
		refuse(w, http.StatusLengthRequired, "test", "a body in chunks, which not every proxy takes")
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client went away
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	bulk := len(parts) == 2 && parts[1] == "_bulk"
	if !bulk {
		f.calls = append(f.calls, r.Method+" "+r.URL.Path)
	}
	if f.onCall != nil {
		if status := f.onCall(r); status != 0 {
			refuse(w, status, "test", "required by the test")
			return
		}
	}
	fixed, known := f.fixed[r.Method+" "+r.URL.Path]
	if r.Method == "GET" && r.URL.Path == "/" {
		fixed, known = f.root, true
	}
	switch {
	case known:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(fixed.status)
		_, _ = io.WriteString(w, fixed.body)
	case r.Method == "GET" && r.URL.Path == "/_alias":
		all := make(map[string]any)
		for name, index := range f.indices {
			aliases := make(map[string]any)
			for a := range index.aliases {
				aliases[a] = struct{}{}
			}
			all[name] = map[string]any{"aliases": aliases}
		}
		reply(w, all)
	case r.Method == "POST" && r.URL.Path == "/_aliases":
		f.swap(w, body)
	case r.Method == "PUT" && len(parts) == 1:
		f.create(w, parts[0], body)
	case bulk && r.Method == "POST":
		if r.Header.Get("Content-Type") != "application/x-ndjson" {
			refuse(w, 406, "content_type", "expected application/x-ndjson")
			return
		}
		f.bulk(w, parts[0], body)
	case f.indices[parts[0]] == nil:
		refuse(w, 404, "index_not_found_exception", "no such index ["+parts[0]+"]")
	case r.Method == "DELETE" && len(parts) == 1:
		delete(f.indices, parts[0])
		reply(w, map[string]any{"acknowledged": true})
	case r.Method == "GET" && parts[1] == "_mapping":
		reply(w, map[string]any{parts[0]: map[string]any{"mappings": f.indices[parts[0]].mappings}})
	case r.Method == "POST" && parts[1] == "_refresh":
		f.indices[parts[0]].visible = len(f.indices[parts[0]].docs)
		reply(w, map[string]any{})
	case r.Method == "POST" && parts[1] == "_count":
		reply(w, map[string]any{"count": f.indices[parts[0]].visible})
	default:
		refuse(w, 501, "unknown", r.Method+" "+r.URL.Path)
	}
}

func (f *fake) create(w http.ResponseWriter, name string, body []byte) {
	var create struct {
		Settings, Mappings json.RawMessage
	}
	if err := json.Unmarshal(body, &create); err != nil {
		refuse(w, 400, "parse_exception", err.Error())
		return
	}
	if f.indices[name] != nil {
		refuse(w, 400, existsAlready, name)
		return
	}
	f.add(name, string(create.Mappings)).settings = create.Settings
	reply(w, map[string]any{"acknowledged": true, "shards_acknowledged": true, "index": name})
}

func (f *fake) swap(w http.ResponseWriter, body []byte) {
	var all struct{ Actions []aliasAction }
	if err := json.Unmarshal(body, &all); err != nil {
		refuse(w, 400, "parse_exception", err.Error())
		return
	}
	for _, a := range all.Actions {
		for _, target := range []*aliasTarget{a.Add, a.Remove} {
			if target != nil && f.indices[target.Index] == nil {
				refuse(w, 404, "index_not_found_exception", target.Index)
				return
			}
		}
	}
	for _, a := range all.Actions {
		if a.Add != nil {
			f.indices[a.Add.Index].aliases[a.Add.Alias] = true
		}
		if a.Remove != nil {
			delete(f.indices[a.Remove.Index].aliases, a.Remove.Alias)
		}
	}
	reply(w, map[string]any{"acknowledged": true})
}

func (f *fake) bulk(w http.ResponseWriter, name string, body []byte) {
	f.bulks++
	n := f.bulks
	if f.onBulk != nil {
		status, taken := f.onBulk(n)
		if taken && status != 0 {
			f.take(name, n, body)
		}
		switch {
		case status < 0:
			panic(http.ErrAbortHandler) // the connection breaks
		case status != 0:
			refuse(w, status, cmp.Or(f.kind, "es_rejected_execution_exception"), "queue full")
			return
		}
	}
	items, failed, err := f.take(name, n, body)
	if err != nil {
		refuse(w, 400, "illegal_argument_exception", err.Error())
		return
	}
	reply(w, map[string]any{"took": 1, "errors": failed, "items": items})
}

func (f *fake) take(name string, n int, body []byte) (items []any, failed bool, err error) {
	if len(body) == 0 || body[len(body)-1] != '\n' {
		return nil, false, fmt.Errorf("the bulk request must be terminated by a newline")
	}
	index := f.indices[name]
	if index == nil {
		index = f.add(name, `{}`)
	}
	lines := bufio.NewScanner(bytes.NewReader(body))
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var action map[string]struct {
			ID string `json:"_id"`
		}
		if err := json.Unmarshal(lines.Bytes(), &action); err != nil || len(action) != 1 {
			return nil, false, fmt.Errorf("malformed action %q", lines.Text())
		}
		id := action["create"].ID
		if !lines.Scan() || !json.Valid(lines.Bytes()) {
			return nil, false, fmt.Errorf("malformed source of %s", id)
		}
		status, reason := 201, ""
		if f.onDoc != nil {
			if s, r := f.onDoc(n, id); s != 0 {
				status, reason = s, r
			}
		}
		if _, ok := index.docs[id]; ok && status == 201 {
			status, reason = 409, "version conflict, document already exists"
		}
		item := map[string]any{"status": status}
		if status == 201 {
			index.docs[id] = lines.Text()
		} else {
			failed = true
			item["error"] = map[string]any{"type": cmp.Or(f.kind, "some_exception"), "reason": reason, "caused_by": map[string]any{"type": "x", "reason": "the root"}}
		}
		items = append(items, map[string]any{"create": item})
	}
	return items, failed, nil
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

func refuse(w http.ResponseWriter, status int, kind, reason string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"status": status, "error": map[string]any{"type": kind, "reason": reason}})
}

// set is a data set of short documents, with their number in each index.
type set struct {
	bench.DataSet
	hash   string
	counts map[string]int
	docs   func(index string, i int) (bench.Document, error) // nil: ids from 0, all with the same text
}

func (s set) Info() bench.DataInfo { return bench.DataInfo{Name: "test", Hash: s.hash} }

func (s set) Indices() (all []bench.Index) {
	for _, name := range slices.Sorted(maps.Keys(s.counts)) {
		all = append(all, bench.Index{
			Name: name, Count: int64(s.counts[name]),
			Mapping: []byte(`{"settings":{"index":{"refresh_interval":"7s"}},"mappings":{"_meta":{"mine":1},"properties":{"n":{"type":"long"}}}}`),
		})
	}
	return all
}

func (s set) Documents(index string) iter.Seq2[bench.Document, error] {
	return func(yield func(bench.Document, error) bool) {
		for i := range s.counts[index] {
			doc, err := bench.Document{ID: fmt.Sprint(i), Source: fmt.Appendf(nil, `{"n":%d}`, i)}, error(nil)
			if s.docs != nil {
				doc, err = s.docs(index, i)
			}
			if !yield(doc, err) || err != nil {
				return
			}
		}
	}
}

// memory is a network with one server. Its connections are pipes, so time can be virtual for
// both ends (testing/synctest), which sockets do not allow.
type memory struct {
	conns  chan net.Conn
	closed chan struct{}
	close  sync.Once
}

// newMemory returns a network whose server is listening.
func newMemory() *memory { return &memory{conns: make(chan net.Conn), closed: make(chan struct{})} }

// Addr returns the server's address.
func (m *memory) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9200} }

// Accept returns the server's end of the next connection.
func (m *memory) Accept() (net.Conn, error) {
	select {
	case c := <-m.conns:
		return c, nil
	case <-m.closed:
		return nil, net.ErrClosed
	}
}

// Close ends the server's listening; open connections stay open.
func (m *memory) Close() error {
	m.close.Do(func() { close(m.closed) })
	return nil
}

// DialContext connects to the server, whatever the address.
func (m *memory) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case m.conns <- far:
		return near, nil
	case <-m.closed:
		return nil, syscall.ECONNREFUSED
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
