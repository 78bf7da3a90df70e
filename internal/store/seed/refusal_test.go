package seed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// page responds like a proxy.
func page(w http.ResponseWriter, status int) {
	w.Header().Set("Content-Type", "text/html")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<html><head><title>%d %s</title></head><body>nginx</body></html>", status, http.StatusText(status))
}

func isBulk(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/_bulk") }

// A permanent error ends the seeding with the first response, with its reason and what to do.
func TestRun_PermanentErrors(t *testing.T) {
	const flood = "index [city_v1] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, index has read-only-allow-delete block];"
	for name, c := range map[string]struct {
		kind, reason string
		status       int // of each document; negative: of the whole request
		want         []string
	}{
		"full disk":       {blocked, flood, 429, []string{"(429)", "cluster_block_exception: index [city_v1] blocked by", "free disk space for it"}},
		"read-only":       {blocked, "blocked by: [FORBIDDEN/5/index read-only (api)];", 403, []string{"index read-only (api)", "lift the block"}},
		"no privilege":    {"security_exception", "action [indices:data/write] is unauthorized", 403, []string{"is unauthorized", "monitor on the cluster"}},
		"index closed":    {"index_closed_exception", "closed", 400, []string{"index_closed_exception: closed"}},
		"out of shards":   {"validation_exception", "this cluster currently has [1000]/[1000] maximum shards open;", 400, []string{"maximum shards open"}},
		"the whole disk":  {blocked, "", -429, []string{"returned 429 Too Many Requests: cluster_block_exception", "free disk space"}},
		"password lost":   {"security_exception", "", -401, []string{"returned 401 Unauthorized", "add user and password to the URL"}},
		"forbidden":       {"security_exception", "", -403, []string{"returned 403 Forbidden"}},
		"not implemented": {"unsupported", "", -501, []string{"returned 501 Not Implemented"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake(t)
				f.kind = c.kind
				f.onDoc = func(int, string) (int, string) { return c.status, c.reason }
				if c.status < 0 {
					f.onBulk = func(int) (int, bool) { return -c.status, false }
				}
				o := options(f, two("a"))
				o.Workers = 1
				began := time.Now()
				_, err := Run(t.Context(), o)
				testenv.Fails(t, err, c.want...)
				took := time.Since(began)
				testenv.Check(t, f.bulks == 1 && took <= 0, "%d bulks, %v", f.bulks, took)
				wantState(t, f, "")
			})
		})
	}
}

// TestRun_Lacking: what a server without its modules said, and what the error says of it.
func TestRun_Lacking(t *testing.T) {
	for name, c := range map[string]struct {
		said
		want []string
	}{
		"OpenSearch 1.3.13": {said{400, `{"error":{"root_cause":[{"type":"mapper_parsing_exception","reason":"No handler for type [geo_shape] declared on field [geometry]"}],"type":"mapper_parsing_exception","reason":"Failed to parse mapping [_doc]: No handler for type [geo_shape] declared on field [geometry]","caused_by":{"type":"mapper_parsing_exception","reason":"No handler for type [geo_shape] declared on field [geometry]"}},"status":400}`},
			[]string{"create index city_v1: the server has no field type geo_shape (module geo, legacy-geo or spatial), which GET /city/v1/closest needs: use a full distribution"}},
		"Elasticsearch 8.5.0": {said{400, `{"error":{"root_cause":[{"type":"illegal_argument_exception","reason":"Custom Analyzer [lowercase_asciifolding] failed to find filter under name [asciifolding]"}],"type":"illegal_argument_exception","reason":"Custom Analyzer [lowercase_asciifolding] failed to find filter under name [asciifolding]"},"status":400}`},
			[]string{"the server has no token filter asciifolding (module analysis-common), which GET /city/v1/search needs: use"}},
		"Elasticsearch 8.5.0 without mapper-extras": {said{400, `{"error":{"root_cause":[{"type":"mapper_parsing_exception","reason":"no handler for type [search_as_you_type] declared on field [autocomplete]"}],"type":"mapper_parsing_exception","reason":"Failed to parse mapping: no handler for type [search_as_you_type] declared on field [autocomplete]","caused_by":{"type":"mapper_parsing_exception","reason":"no handler for type [search_as_you_type] declared on field [autocomplete]"}},"status":400}`},
			[]string{"the server has no field type search_as_you_type (module mapper-extras), which GET /city/v1/search needs: use"}},
		"Elasticsearch 8.19.21 without mapper-extras": {said{400, `{"error":{"root_cause":[{"type":"mapper_parsing_exception","reason":"The mapper type [search_as_you_type] declared on field [autocomplete] does not exist. It might have been created within a future version or requires a plugin to be installed. Check the documentation."}],"type":"mapper_parsing_exception","reason":"Failed to parse mapping: The mapper type [search_as_you_type] declared on field [autocomplete] does not exist. It might have been created within a future version or requires a plugin to be installed. Check the documentation.","caused_by":{"type":"mapper_parsing_exception","reason":"The mapper type [search_as_you_type] declared on field [autocomplete] does not exist. It might have been created within a future version or requires a plugin to be installed. Check the documentation."}},"status":400}`},
			[]string{"the server has no field type search_as_you_type (module mapper-extras), which GET /city/v1/search needs: use"}},
		"OpenSearch on a full disk": {said{403, `{"error":{"root_cause":[{"type":"index_create_block_exception","reason":"blocked by: [FORBIDDEN/10/cluster create-index blocked (api)];"}],"type":"index_create_block_exception","reason":"blocked by: [FORBIDDEN/10/cluster create-index blocked (api)];"},"status":403}`},
			[]string{"the store returned 403 Forbidden: index_create_block_exception: blocked by: [FORBIDDEN/10/cluster create-index blocked (api)]; free disk space for it"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.fixed = map[string]said{"PUT /city_v1": c.said}
			testenv.Fails(t, testenv.Err(Run(t.Context(), options(f, two("a")))), c.want...)
			wantState(t, f, "")
		})
	}
}

// A temporary error is waited out at any call, and no document is lost.
func TestRun_TemporaryErrors(t *testing.T) {
	any := func(*http.Request) bool { return true }
	to := func(method, end string) func(*http.Request) bool {
		return func(r *http.Request) bool { return r.Method == method && strings.HasSuffix(r.URL.Path, end) }
	}
	for name, c := range map[string]struct {
		call     func(*http.Request) bool
		response func(w http.ResponseWriter)
		after    bool // the error comes after the work is done
	}{
		"a proxy without a server":       {isBulk, func(w http.ResponseWriter) { page(w, 502) }, false},
		"a proxy that lost the response": {isBulk, func(w http.ResponseWriter) { page(w, 504) }, true},
		"a server that starts":           {isBulk, func(w http.ResponseWriter) { page(w, 503) }, false},
		"no master":                      {isBulk, func(w http.ResponseWriter) { refuse(w, 503, blocked, "blocked by: [SERVICE_UNAVAILABLE/2/no master];") }, false},
		"a full queue":                   {isBulk, func(w http.ResponseWriter) { refuse(w, 429, "es_rejected_execution_exception", "queue") }, false},
		"at the making of an index":      {to("PUT", "_v1"), func(w http.ResponseWriter) { page(w, 503) }, false},
		"after the making of an index":   {to("PUT", "_v1"), func(w http.ResponseWriter) { page(w, 504) }, true},
		"at the refresh":                 {to("POST", "_refresh"), func(w http.ResponseWriter) { page(w, 502) }, false},
		"at the count":                   {to("POST", "_count"), func(w http.ResponseWriter) { page(w, 502) }, false},
		"at the swap":                    {to("POST", "_aliases"), func(w http.ResponseWriter) { page(w, 502) }, false},
		"after the swap":                 {to("POST", "_aliases"), func(w http.ResponseWriter) { page(w, 502) }, true},
		"all calls after the first one":  {any, func(w http.ResponseWriter) { page(w, 503) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake(t)
				var began atomic.Pointer[time.Time]
				f.before = func(w http.ResponseWriter, r *http.Request) bool {
					now := time.Now()
					if began.Load() == nil && isBulk(r) == (name == "all calls after the first one") && !c.call(r) || r.Method == "GET" {
						return false
					}
					began.CompareAndSwap(nil, &now)
					if !c.call(r) || time.Since(*began.Load()) > 8*time.Second {
						return false
					}
					if c.after {
						f.response(httptest.NewRecorder(), r) // the client never sees this response
					}
					c.response(w)
					return true
				}
				o := options(f, two("a"))
				r := mustRun(t, o)
				wantState(t, f, "city_v1>city:200 region_v1>region:5")
				if began.Load() == nil || name != "after the swap" && time.Since(*began.Load()) < 8*time.Second {
					t.Errorf("result %+v", r)
				}
			})
		})
	}
}

// With a shard that never starts each try takes long. The total time is bounded too.
func TestRun_InactiveShard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		f.kind = "unavailable_shards_exception"
		f.before = func(_ http.ResponseWriter, r *http.Request) bool {
			if isBulk(r) {
				testenv.Equal(t, r.URL.Query().Get("timeout"), "10s", r.URL)
				time.Sleep(10 * time.Second)
			}
			return false
		}
		f.onDoc = func(int, string) (int, string) { return 503, "[city_v1][0] primary shard is not active" }
		o := options(f, two("a"))
		began := time.Now()
		testenv.Fails(t, testenv.Err(Run(t.Context(), o)), "the store returned 503 Service Unavailable: unavailable_shards_exception: [city_v1][0] primary shard is not active")
		took := time.Since(began)
		testenv.Check(t, took <= patience+30*time.Second, "it took %v", took)
	})
}

// If every document of a bulk is rejected, no other bulk is sent.
func TestRun_RejectedBulk(t *testing.T) {
	f := newFake(t)
	f.kind = "strict_dynamic_mapping_exception"
	f.onDoc = func(int, string) (int, string) {
		return 400, "mapping set to strict, dynamic introduction of [n] within [_doc] is not allowed"
	}
	o := options(f, two("a"))
	o.Workers = 1
	_, err := Run(t.Context(), o)
	var rejected *RejectedError
	testenv.Need(t, errors.As(err, &rejected) && f.bulks == 1 && rejected.Total >= 2 && rejected.Total <= 20,
		"%d bulks, error %v", f.bulks, err)
	testenv.Contains(t, err.Error(),
		fmt.Sprintf("documents rejected: %d; the store's data is unchanged\n  city_v1/0: ", rejected.Total),
		"strict_dynamic_mapping_exception: mapping set to strict")
	wantState(t, f, "")
}

// The first rejected documents are listed. The store's text is made harmless.
func TestRun_RejectedDocuments(t *testing.T) {
	f := newFake(t)
	mustRun(t, options(f, two("old")))
	f.onDoc = func(_ int, id string) (int, string) {
		if strings.HasSuffix(id, "7") {
			return 400, "failed to parse field [n]\x1b[31m\n"
		}
		return 0, ""
	}
	s := two("new")
	s.counts["city"] = 400
	o := options(f, s)
	o.Batch = 1 << 20
	_, err := Run(t.Context(), o)
	var rejected *RejectedError
	testenv.Need(t, errors.As(err, &rejected) && rejected.Total == 40 && len(rejected.First) == MaxRejected,
		"error %v", err)
	if first := rejected.First[0]; first.Index != "city_v2" || first.ID != "7" || first.Status != 400 || first.Reason != "some_exception: failed to parse field [n]␛[31m : the root" {
		t.Errorf("first rejected %+v", first)
	}
	if !strings.Contains(err.Error(), "documents rejected: 40; the store's data is unchanged\n  city_v2/7: ") || !strings.HasSuffix(err.Error(), "and 20 more") {
		t.Errorf("error %v", err)
	}
	wantState(t, f, "city_v1>city:200 region_v1>region:5")
}

// limited makes f refuse bodies longer than limit bytes, as a proxy does.
func limited(f *fake, limit int64) {
	f.before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.ContentLength <= limit {
			return false
		}
		_, _ = io.Copy(io.Discard, r.Body)
		page(w, http.StatusRequestEntityTooLarge)
		return true
	}
}

func TestRun_LargeDocument(t *testing.T) {
	f := newFake(t)
	mustRun(t, options(f, two("old")))
	limited(f, 1000)
	s := two("new")
	s.docs = func(_ string, i int) (bench.Document, error) {
		source := []byte(`{}`)
		if i == 17 {
			source = fmt.Appendf(nil, `{"n":"%02000d"}`, 1)
		}
		return bench.Document{ID: fmt.Sprint("id-", i), Source: source}, nil
	}
	_, err := Run(t.Context(), options(f, s))
	testenv.Fails(t, err, "load city_v2: bulk of documents id-17 to id-17", "413", "client_max_body_size")
	wantState(t, f, "city_v1>city:200 region_v1>region:5")
}

// A redirect is never followed: the password is for one address.
func TestRun_Redirect(t *testing.T) {
	for name, c := range map[string]struct {
		call func(*http.Request) bool
		to   string
		want string
	}{
		"at the first call": {func(*http.Request) bool { return true }, "http://you:secret@127.0.0.1:9201/?token=secret", "http://***@127.0.0.1:9201/?..."},
		"at a bulk":         {isBulk, "http://127.0.0.1:9201/city_v1/_bulk", "http://127.0.0.1:9201/city_v1/_bulk"},
		"at a refresh":      {func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "_refresh") }, "https://127.0.0.1/", "https://127.0.0.1/"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake(t)
				redirects := 0
				f.before = func(w http.ResponseWriter, r *http.Request) bool {
					testenv.Equal(t, r.Host, "127.0.0.1:9200", r.Header)
					if redirects > 0 || !c.call(r) {
						return false
					}
					redirects++
					http.Redirect(w, r, c.to, http.StatusTemporaryRedirect)
					return true
				}
				o := options(f, two("a"))
				o.Workers, o.URL = 1, "http://me:secret@127.0.0.1:9200"
				_, err := Run(t.Context(), o)
				if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "running there") {
					t.Errorf("error %v, want %s", err, c.want)
				}
				wantState(t, f, "")
			})
		})
	}
}

// A response is read up to a limit, which for a bulk depends on what was sent.
func TestRun_ResponseSize(t *testing.T) {
	for name, c := range map[string]struct {
		end    string
		status int
		most   int64
	}{
		"a bulk":             {"/_bulk", 200, maxResponse},
		"an error of a bulk": {"/_bulk", 400, maxError},
		"aliases":            {"/_alias", 200, maxResponse},
		"a count":            {"/_count", 200, maxResponse},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			var wrote atomic.Int64
			f.before = func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.HasSuffix(r.URL.Path, c.end) || r.Method == "DELETE" || wrote.Load() > 0 {
					return false
				}
				w.WriteHeader(c.status)
				block := []byte(strings.Repeat(" ", 4<<10))
				for wrote.Load() < 256<<20 {
					if n, err := w.Write(block); err != nil {
						break
					} else {
						wrote.Add(int64(n))
					}
				}
				return true
			}
			o := options(f, two("a"))
			o.Workers = 1
			_, err := Run(t.Context(), o)
			want := "longer than"
			testenv.Check(t, err != nil && (c.status >= 300 || strings.Contains(err.Error(), want)), "error %v", err)
			if n := wrote.Load(); n > c.most+128<<10 { // the server and the pipe buffer some
				t.Errorf("read some %d bytes, want at most %d", n, c.most)
			}
		})
	}
}

// An interruption also ends the waiting.
func TestRun_InterruptedWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		f.before = func(w http.ResponseWriter, r *http.Request) bool {
			if isBulk(r) {
				page(w, 503)
			}
			return isBulk(r)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		o := options(f, two("a"))
		began := time.Now()
		if _, err := Run(ctx, o); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 3*time.Second {
			t.Errorf("error %v after %v", err, time.Since(began))
		}
		wantState(t, f, "")
	})
}
