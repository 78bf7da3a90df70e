package seed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/olivere/elastic/v7"
	"go.uber.org/goleak"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// options seeds s into f in bodies of about ten documents.
func options(f *fake, s set) Options {
	return Options{URL: f.URL, Set: s, Workers: 3, Batch: 300, dial: f.network.DialContext}
}

func two(hash string) set { return set{hash: hash, counts: map[string]int{"city": 200, "region": 5}} }

func mustRun(t *testing.T, o Options) Result {
	t.Helper()
	r := testenv.Must(Run(t.Context(), o))(t)
	return r
}

func wantState(t *testing.T, f *fake, want string) {
	t.Helper()
	testenv.Equal(t, f.state(), want)
}

func TestRun(t *testing.T) {
	f := newFake(t)
	o := options(f, two("a"))
	var got []Progress
	o.OnProgress = func(p Progress) { got = append(got, p) }
	r := mustRun(t, o)
	wantState(t, f, "city_v1>city:200 region_v1>region:5")
	if r.Unchanged || r.Server != "7.10.2" || len(r.Indices) != 2 || r.Indices[0].Documents != 200 || r.Indices[0].Index != "city_v1" || r.Indices[1].Alias != "region" {
		t.Errorf("result %+v", r)
	}
	if last := got[len(got)-1]; last.Done != 205 || last.Total != 205 || last.Bytes != r.Indices[0].Bytes+r.Indices[1].Bytes {
		t.Errorf("last progress %+v", last)
	}
	index := f.indices["city_v1"]
	testenv.Equal(t, index.docs["17"], `{"n":17}`)
	testenv.Equal(t, string(index.settings), `{"index":{"refresh_interval":"7s"}}`)
	var mappings struct {
		Meta struct {
			Mine     int
			Locbench mark
		} `json:"_meta"`
	}
	if err := json.Unmarshal(index.mappings, &mappings); err != nil || mappings.Meta.Mine != 1 || mappings.Meta.Locbench.Hash != "a" {
		t.Errorf("mapping %s: %v", index.mappings, err)
	}
}

// TestRun_Servers: a server is taken for what it says it is, as these did.
func TestRun_Servers(t *testing.T) {
	bare := map[string]said{"GET /_nodes/_local": {200, `{"cluster_name":"elasticsearch","nodes":{"Qr6Uu4J2SVqUJZpYndRDbA":{"version":"8.19.21"}}}`}}
	for want, root := range map[string]said{
		"8.19.21":           {405, `{"error":"Incorrect HTTP method for uri [/] and method [GET], allowed: [DELETE]","status":405}`},
		"8.5.0":             {200, `{"name":"vm","cluster_name":"elasticsearch","cluster_uuid":"6Lzy2E5wQlSRAblT71PWGw","version":{"number":"8.5.0","build_flavor":"default","build_type":"zip","build_snapshot":false,"lucene_version":"9.4.1"},"tagline":"You Know, for Search"}`},
		"opensearch 1.3.13": {200, `{"name":"Node 1","cluster_name":"locbench-test","cluster_uuid":"NhTzSsjVSKujvWeitWfiRQ","version":{"distribution":"opensearch","number":"1.3.13","build_type":"unknown"},"tagline":"The OpenSearch Project: https://opensearch.org/"}`},
		"opensearch 2.19.1": {200, `{"name":"Node 1","cluster_name":"locbench-test","cluster_uuid":"VtYz1qrlS7aW-KMydcZarA","version":{"distribution":"opensearch","number":"2.19.1","build_type":"unknown"},"tagline":"The OpenSearch Project: https://opensearch.org/"}`},
		"opensearch 3.8.0":  {200, `{"name":"Node 1","cluster_name":"locbench-test","cluster_uuid":"2uclqRwZQv21EI0OdH5e6g","version":{"distribution":"opensearch","number":"3.8.0","build_type":"unknown"},"tagline":"The OpenSearch Project: https://opensearch.org/"}`},
	} {
		t.Run(want, func(t *testing.T) {
			f := newFake(t)
			f.root, f.fixed = root, bare
			r := mustRun(t, options(f, two("a")))
			testenv.Check(t, r.Server == want && !r.Unchanged && r.Indices[0].Documents == 200, "%+v", r)
			testenv.Check(t, mustRun(t, options(f, two("a"))).Unchanged, "it is loaded again")
		})
	}
}

func TestRun_Again(t *testing.T) {
	f := newFake(t)
	mustRun(t, options(f, two("a")))
	before := len(f.calls)

	r := mustRun(t, options(f, two("a")))
	if !r.Unchanged || len(r.Indices) != 2 || r.Indices[0].Index != "city_v1" || r.Indices[0].Documents != 200 {
		t.Errorf("the same data again: %+v", r)
	}
	for _, call := range f.calls[before:] {
		testenv.Check(t, strings.HasPrefix(call, "GET ") || strings.HasSuffix(call, "/_count"),
			"the same data again made the call %s", call)
	}

	o := options(f, two("a"))
	o.Force = true
	r = mustRun(t, o)
	wantState(t, f, "city_v2>city:200 region_v2>region:5")
	testenv.Equal(t, r.Removed, []string{"city_v1", "region_v1"})

	r = mustRun(t, options(f, two("b")))
	wantState(t, f, "city_v3>city:200 region_v3>region:5")

	f.mu.Lock()
	f.indices["city_v3"].visible-- // as if another client had removed a document
	f.mu.Unlock()
	r = mustRun(t, options(f, two("b")))
	testenv.Check(t, !r.Unchanged, "an index with a document missing passed as complete")
	wantState(t, f, "city_v4>city:200 region_v4>region:5")
}

func TestRun_Leftovers(t *testing.T) {
	f := newFake(t)
	f.add("city_v1", `{"_meta":{"locbench":{"alias":"city","hash":"x"}}}`)
	f.add("city_v2", `{"_meta":{"locbench":"a text, not a mark"}}`)
	f.add("city_v7", `{}`)
	f.add("city_v9", `{"_meta":{"locbench":{"alias":"city","hash":"x"}}}`, "in-use")
	f.add("city_version", `{}`)
	f.add("other", `{"_meta":{"locbench":{"alias":"city","hash":"x"}}}`)
	r := mustRun(t, options(f, two("a")))
	wantState(t, f, "city_v10>city:200 city_v2>:0 city_v7>:0 city_v9>in-use:0 city_version>:0 other>:0 region_v1>region:5")
	testenv.Equal(t, r.Removed, []string{"city_v1"})
}

func TestRun_OtherIndices(t *testing.T) {
	for name, c := range map[string]struct {
		index, alias string
		want         string
	}{
		"index": {"city", "", `index "city" was not created by locbench`},
		"alias": {"my-cities", "city", `alias "city" points to index "my-cities"`},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			index := f.add(c.index, `{}`)
			if c.alias != "" {
				index.aliases[c.alias] = true
			}
			before := f.state()
			o := options(f, two("a"))
			o.Force = true
			testenv.Fails(t, testenv.Err(Run(t.Context(), o)), c.want)
			wantState(t, f, before)
		})
	}
}

func TestRun_RefusedRequests(t *testing.T) {
	for name, prepare := range map[string]func(*fake){
		"whole bodies, 429": func(f *fake) {
			f.onBulk = func(n int) (int, bool) { return []int{0, 429}[n%2], false }
		},
		"503 without having done it": func(f *fake) {
			f.onBulk = func(n int) (int, bool) { return []int{0, 503, 0}[n%3], false }
		},
		"502 after having done it": func(f *fake) {
			f.onBulk = func(n int) (int, bool) { return []int{0, 502, 0}[n%3], n%3 == 1 }
		},
		"broken connections, done or not": func(f *fake) {
			f.onBulk = func(n int) (int, bool) { return []int{0, 0, -1}[n%3], n%2 == 0 }
		},
		"single documents, 429": func(f *fake) {
			f.onDoc = func(n int, id string) (int, string) {
				if (n+len(id)+int(id[len(id)-1]))%3 == 0 {
					return 429, "queue full"
				}
				return 0, ""
			}
		},
		"single documents, 503": func(f *fake) {
			f.onDoc = func(n int, id string) (int, string) {
				if (n+int(id[0]))%4 == 0 {
					return 503, "primary shard is not active"
				}
				return 0, ""
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake(t)
				prepare(f)
				o := options(f, two("a"))
				r := mustRun(t, o)
				wantState(t, f, "city_v1>city:200 region_v1>region:5")
				testenv.Check(t, r.Indices[0].Retries+r.Indices[1].Retries != 0, "result %+v", r)
			})
		})
	}
}

func TestRun_GivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		mustRun(t, options(f, two("a")))
		f.onBulk = func(int) (int, bool) { return 429, false }
		_, err := Run(t.Context(), options(f, two("b")))
		testenv.Fails(t, err, "gave up after 1m", ": the store returned 429 Too Many Requests: es_rejected_execution_exception: queue full")
		wantState(t, f, "city_v1>city:200 region_v1>region:5")
	})
}

func TestRun_DuplicateID(t *testing.T) {
	f := newFake(t)
	s := set{hash: "a", counts: map[string]int{"city": 10}}
	s.docs = func(_ string, i int) (bench.Document, error) {
		return bench.Document{ID: fmt.Sprint(i % 9), Source: []byte(`{}`)}, nil
	}
	var rejected *RejectedError
	if _, err := Run(t.Context(), options(f, s)); !errors.As(err, &rejected) || rejected.Total != 1 || rejected.First[0].ID != "0" || rejected.First[0].Status != 409 {
		t.Errorf("error %v", err)
	}
	wantState(t, f, "")
}

func TestRun_Count(t *testing.T) {
	f := newFake(t)
	f.onCall = func(r *http.Request) int {
		if strings.HasSuffix(r.URL.Path, "/_count") {
			f.indices["city_v1"].visible--
		}
		return 0
	}
	testenv.Fails(t, testenv.Err(Run(t.Context(), options(f, two("a")))),
		"city_v1 has 199 documents, but 200 were sent")
	wantState(t, f, "")
}

// A request in flight that Elasticsearch takes late does not create its index again.
func TestRun_SourceFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		f.before = func(_ http.ResponseWriter, r *http.Request) bool {
			body, _ := io.ReadAll(r.Body) // all of it was sent
			r.Body = io.NopCloser(bytes.NewReader(body))
			if strings.HasSuffix(r.URL.Path, "/_bulk") {
				time.Sleep(time.Second)
			}
			return false
		}
		s := two("a")
		broken := errors.New("city.ndjson:7: broken")
		s.docs = func(_ string, i int) (bench.Document, error) {
			if i == 150 {
				return bench.Document{}, broken
			}
			return bench.Document{ID: fmt.Sprint(i), Source: []byte(`{}`)}, nil
		}
		_, err := Run(t.Context(), options(f, s))
		testenv.Check(t, errors.Is(err, broken), "error %v", err)
		time.Sleep(2 * time.Second)
		wantState(t, f, "")
		f.Close()
	})
}

// An interruption or a failure of any call leaves the store unchanged, without unfinished indices.
func TestRun_Unfinished(t *testing.T) {
	for at, how := range map[string]string{
		"GET /": "interrupted", "GET /_alias": "interrupted, failed", "GET /city_v1/_mapping": "interrupted, failed",
		"PUT /city_v2": "interrupted, failed", "POST /city_v2/_bulk": "interrupted", "POST /region_v2/_bulk": "interrupted",
		"POST /region_v2/_refresh": "interrupted", "POST /region_v2/_count": "interrupted", "POST /city_v2/_refresh": "failed",
		"POST /city_v2/_count": "failed", "PUT /region_v2": "failed", "POST /_aliases": "failed",
	} {
		for how := range strings.SplitSeq(how, ", ") {
			t.Run(at+", "+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := newFake(t)
					mustRun(t, options(f, two("a")))
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					reached := false
					f.onCall = func(r *http.Request) int {
						if r.Method+" "+r.URL.Path != at || reached {
							return 0
						}
						if reached = true; how == "failed" {
							return 500
						}
						cancel()
						return 0
					}
					started := time.Now()
					if _, err := Run(ctx, options(f, two("b"))); err == nil || errors.Is(err, context.Canceled) != (how == "interrupted") {
						t.Errorf("error %v", err)
					}
					took := time.Since(started)
					testenv.Check(t, took <= 5*time.Second || how != "interrupted", "stopping took %v", took)
					testenv.Equal(t, reached, true, "the call was made")
					wantState(t, f, "city_v1>city:200 region_v1>region:5")
				})
			})
		}
	}
}

func TestRun_OldVersionRemains(t *testing.T) {
	f := newFake(t)
	mustRun(t, options(f, two("a")))
	f.onCall = func(r *http.Request) int {
		if r.Method == "DELETE" {
			return 500
		}
		return 0
	}
	r := mustRun(t, options(f, two("b")))
	testenv.Check(t, len(r.Warnings) == 2, "warnings %q", r.Warnings)
	wantState(t, f, "city_v1>:200 city_v2>city:200 region_v1>:5 region_v2>region:5")
	f.onCall = nil
	mustRun(t, options(f, two("c")))
	wantState(t, f, "city_v3>city:200 region_v3>region:5")
}

func TestRun_WrongServer(t *testing.T) {
	response := func(status int, body string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	gone := httptest.NewServer(nil)
	gone.Close()
	secure := httptest.NewUnstartedServer(nil)
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // it logs what this test is about
	secure.StartTLS()
	t.Cleanup(secure.Close)
	mute := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	t.Cleanup(mute.Close)
	for name, c := range map[string]struct{ url, want string }{
		"no server":   {gone.URL, "is Elasticsearch running there?"},
		"no URL":      {"localhost:9200", "expected one such as http://127.0.0.1:9200"},
		"bad URL":     {"http://user:secret@host:port", "malformed Elasticsearch URL"},
		"a web site":  {response(200, "<html>"), "not Elasticsearch"},
		"other JSON":  {response(200, `{"version":"1"}`), "not Elasticsearch"},
		"empty":       {response(200, ""), "not Elasticsearch"},
		"not found":   {response(404, `{}`), "not Elasticsearch"},
		"not ready":   {response(503, `{}`), "not ready: the store returned 503"},
		"no GET":      {response(405, `{}`), "not Elasticsearch or OpenSearch, or not ready: the store returned 405"},
		"no password": {response(401, `{}`), "add user and password to the URL"},
		"its own CA": {strings.Replace(secure.URL, "https://", "https://me:secret@", 1),
			"not trusted (x509: certificate signed by unknown authority): add its CA, such as config/certs/http_ca.crt of Elasticsearch, to those"},
		"another name":     {strings.Replace(secure.URL, "127.0.0.1", "localhost", 1), "not localhost): use that name"},
		"https for http":   {strings.Replace(response(200, `{}`), "http://", "https://", 1), "speaks http, not https: use http://127.0.0.1:"},
		"http for https":   {strings.Replace(mute.URL, "http://", "http://me:secret@", 1), "if the server has TLS, as Elasticsearch from 8 on by default, write https://user:password@host:9200"},
		"http, with a 400": {strings.Replace(secure.URL, "https://", "http://", 1), "speaks https, not http: use https://127.0.0.1:"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Run(t.Context(), Options{URL: c.url, Set: two("a")})
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

func TestRun_Authenticates(t *testing.T) {
	f := newFake(t)
	f.onCall = func(r *http.Request) int {
		if user, password, _ := r.BasicAuth(); user != "me" || password != "secret" {
			return 401
		}
		return 0
	}
	o := options(f, two("a"))
	o.URL = strings.Replace(f.URL, "http://", "http://me:secret@", 1)
	mustRun(t, o)
	f.onBulk = func(int) (int, bool) { return 413, false }
	o.Force = true
	_, err := Run(t.Context(), o)
	testenv.Check(t, err != nil && !strings.Contains(err.Error(), "secret"), "error %v", err)
}

func FuzzOutcomes(f *testing.F) {
	f.Add([]byte(`{"took":1,"errors":false,"items":[{"create":{"status":201}}]}`))
	f.Add([]byte(`{"errors":true,"items":[{"create":{"status":429,"error":{"type":"a","reason":"b","caused_by":{"reason":"c"}}}}]}`))
	f.Add([]byte(`{"errors":true,"items":null}`))
	f.Add([]byte(`{"errors":true,"items":[{}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var response elastic.BulkResponse
		if json.Unmarshal(data, &response) != nil {
			return
		}
		items, err := outcomes(&response, len(response.Items))
		testenv.Check(t, err != nil || len(items) == len(response.Items), "%d outcomes of %d", len(items),
			len(response.Items))
		for _, it := range items {
			testenv.Check(t, it.Status >= 200 && it.Status <= 599, "outcome %+v", it)
			_ = reasons(it.Error)
		}
	})
}

// TestRun_Silence: a store that stops responding, at any call, soon ends the seeding with a clear
// error.
func TestRun_Silence(t *testing.T) {
	for _, at := range []string{"GET /", "GET /_alias", "GET /city_v3/_mapping", "PUT /city_v4", "bulk", "POST /city_v4/_refresh", "POST /city_v4/_count", "POST /_aliases"} {
		t.Run(at, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake(t)
				f.add("city_v3", `{"_meta":{"locbench":{"alias":"city","hash":"x"}}}`, "city")
				hold, seen := make(chan struct{}), 0
				t.Cleanup(func() { close(hold); f.CloseClientConnections() })
				silent := func() {
					seen++
					f.mu.Unlock() // the fake holds it while it responds
					<-hold
					f.mu.Lock()
				}
				f.onCall = func(r *http.Request) int {
					if r.Method+" "+r.URL.Path == at {
						silent()
					}
					return 0
				}
				f.onBulk = func(int) (int, bool) {
					if at == "bulk" {
						silent()
					}
					return 0, false
				}
				o := options(f, two("a"))
				o.Workers = 1
				within := changeTimeout
				if strings.HasPrefix(at, "GET ") || strings.HasSuffix(at, "/_count") {
					within = readTimeout
				} else if at == "POST /_aliases" {
					within = cleanUp
				}
				began := time.Now()
				_, err := Run(t.Context(), o)
				if err == nil || !strings.Contains(err.Error(), fmt.Sprint("no response within ", within)) || strings.Contains(err.Error(), "deadline") {
					t.Errorf("error %v", err)
				}
				took := time.Since(began)
				testenv.Check(t, took <= within+cleanUp+time.Second, "it took %v", took)
				f.mu.Lock()
				defer f.mu.Unlock()
				testenv.Check(t, seen != 0 && seen <= 3, "%d requests", seen)
			})
		})
	}
}
