package locations

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// fakeElastic answers the calls of the service as Elasticsearch does, over a few documents. What a search finds is given;
// whether a query means that is for the tests against a real store.
type fakeElastic struct {
	*httptest.Server

	mu     sync.Mutex
	docs   map[string]string // "city/1": source
	found  [][]string        // keys of documents: what the next searches find, one after the other
	broken http.HandlerFunc  // if set, it answers instead
	calls  []string          // "GET /city/_source/1?…"
	bodies []string          // of searches
	conns  int               // connections opened
}

func newFakeElastic(t *testing.T) *fakeElastic {
	f := &fakeElastic{docs: map[string]string{
		"region/7": `{"id":7,"countryIso":"CZ","centroid":{"lat":1,"lon":2},"name.cs":"Kraj","name.de":"Kreis","name.en":"Region","name.pl":"Powiat","name.sk":"Okres"}`,
		"city/1":   doc(1, "CZ", true, "Praha"),
		"city/2":   doc(2, "CZ", false, "Plzeň \\\"x\\\" <b>"),
		"city/3":   doc(3, "DE", true, "Berlin"),
		"city/4":   doc(4, "AT", true, "Wien"),
		"city/9":   strings.ReplaceAll(doc(9, "CZ", false, "Nikde"), `"regionId":7`, `"regionId":8`),
	}}
	f.Server = httptest.NewUnstartedServer(f)
	f.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			f.mu.Lock()
			f.conns++
			f.mu.Unlock()
		}
	}
	f.Start()
	t.Cleanup(f.Close)
	return f
}

func doc(id int, country string, featured bool, name string) string {
	return fmt.Sprintf(`{"id":%d,"countryIso":%q,"centroid":{"lat":50.1,"lon":14.4},"regionId":7,"isFeatured":%t,"timezone":"Europe/Prague",`+
		`"name.cs":"%s cs","name.de":"%s de","name.en":"%s en","name.pl":"%s pl","name.sk":"%s sk"}`, id, country, featured, name, name, name, name, name)
}

func (f *fakeElastic) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	f.mu.Lock()
	f.calls = append(f.calls, r.Method+" "+r.RequestURI)
	broken := f.broken
	f.mu.Unlock()
	if broken != nil {
		broken(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	index, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch {
	case r.URL.Path == "/":
		io.WriteString(w, `{"version":{"number":"7.10.2"}}`)
	case r.Method == http.MethodGet && strings.HasPrefix(rest, "_source/"):
		source, ok := f.docs[index+"/"+strings.TrimPrefix(rest, "_source/")]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			io.WriteString(w, `{"error":{"type":"resource_not_found_exception"},"status":404}`)
			return
		}
		io.WriteString(w, source)
	case r.Method == http.MethodPost && r.URL.Path == "/city/_search" && r.Header.Get("Content-Type") == "application/json":
		f.search(w, body)
	default:
		w.WriteHeader(http.StatusNotImplemented)
	}
}

func (f *fakeElastic) search(w http.ResponseWriter, body []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.bodies = append(f.bodies, string(body))
	var keys []string
	if len(f.found) > 0 {
		keys, f.found = f.found[0], f.found[1:]
	}
	hits := []json.RawMessage{}
	for _, k := range keys {
		hits = append(hits, json.RawMessage(fmt.Sprintf(`{"_index":"city_v1","_type":"_doc","_id":"1","_score":null,"_source":%s,"sort":[1]}`, f.docs[k])))
	}
	json.NewEncoder(w).Encode(object{"took": 1, "timed_out": false, "hits": object{"total": object{"value": len(hits), "relation": "eq"}, "hits": hits}})
}

func (f *fakeElastic) breaks(h http.HandlerFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.broken = h
}

func (f *fakeElastic) finds(found ...[]string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.found, f.bodies = found, nil
}

func (f *fakeElastic) asked() (calls, bodies []string, conns int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.calls...), append([]string(nil), f.bodies...), f.conns
}
