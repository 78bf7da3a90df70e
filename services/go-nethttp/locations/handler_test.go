package locations

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// service is the handler over a fake store, with its log.
type service struct {
	*handler
	elastic *fakeElastic
	log     *logBuffer
}

func newService(t *testing.T) *service {
	f, log := newFakeElastic(t), new(logBuffer)
	base, err := url.Parse(f.URL + "/")
	if err != nil {
		t.Fatal(err)
	}
	s, lines := newStore(base), newLog(log)
	t.Cleanup(func() { s.close(); lines.close() })
	return &service{newHandler(s, lines, lines), f, log}
}

// logBuffer is an io.Writer that may be read while it is written.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (s *service) ask(method, target string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

const (
	praha  = `{"countryIso":"CZ","id":1,"isFeatured":true,"name":"Praha cs","regionName":"Kraj"}`
	berlin = `{"countryIso":"DE","id":3,"isFeatured":true,"name":"Berlin cs","regionName":"Kraj"}`
	wien   = `{"countryIso":"AT","id":4,"isFeatured":true,"name":"Wien cs","regionName":"Kraj"}`
)

func TestAnswers(t *testing.T) {
	one, nothing := []string{"city/1"}, []string{}
	featured := []string{"city/4", "city/1", "city/3"} // as Elasticsearch sorts: AT, CZ, DE
	for _, tt := range []struct {
		method, target string
		header         []string
		found          [][]string
		status         int
		body           string
	}{
		{"GET", "/", nil, nil, 200, `{"docs":"/api-docs","service":"locations"}`},
		{"GET", "/city/v1/get?id=1&language=cs", nil, nil, 200, praha},
		{"GET", "/city/v1/get?x&%69d=1&language=c%73", nil, nil, 200, praha},
		{"GET", "/city/v1/get?id=2&language=sk", nil, nil, 200, `{"countryIso":"CZ","id":2,"isFeatured":false,"name":"Plzeň \"x\" \u003cb\u003e sk","regionName":"Okres"}`},
		{"HEAD", "/city/v1/get?id=1&language=cs", nil, nil, 200, praha}, // net/http's server leaves the body out
		{"GET", "/city/v1/get?id=5&language=cs", nil, nil, 404, `{"message":"id: there is no city 5"}`},
		{"GET", "/city/v1/get?id=5", nil, nil, 400, `{"message":"language: missing; want one of cs, de, en, pl, sk"}`},
		{"GET", "/city/v1/get", nil, nil, 400, `{"message":"id: missing; want a whole number; language: missing; want one of cs, de, en, pl, sk"}`},
		{"GET", "/city/v1/get?id=x%22&language=CS", nil, nil, 400, `{"message":"id: \"x\\\"\" is not a whole number; language: \"CS\" is unknown; want one of cs, de, en, pl, sk"}`},
		{"GET", "/city/v1/get?id=%zz&language=cs", nil, nil, 400, `{"message":"id: it is not escaped as a URL wants it; id: missing; want a whole number"}`},
		{"GET", "/city/v1/get?id=" + strings.Repeat("9", 100) + "&language=cs", nil, nil, 400, `{"message":"id: \"` + strings.Repeat("9", 60) + `…\" is not a whole number"}`},

		{"GET", "/city/v1/closest?lat=50&lon=14&language=cs", nil, [][]string{one}, 200, praha},
		{"GET", "/city/v1/closest?lat=50&lon=14&language=cs", nil, [][]string{nothing, {"city/3"}}, 200, berlin},
		{"GET", "/city/v1/closest?lat=50&lon=14&language=cs", nil, [][]string{nothing, nothing}, 404, `{"message":"lat, lon: no city is near"}`},
		{"GET", "/city/v1/closest?lat=50&language=cs", nil, nil, 400, `{"message":"lon: missing, although lat is given"}`},
		{"GET", "/city/v1/closest?lon=&language=cs", nil, nil, 400, `{"message":"lat: missing, although lon is given"}`},
		{"GET", "/city/v1/closest?lat=91&lon=-1e9&language=cs", nil, nil, 400, `{"message":"lat: \"91\" is not a number of degrees from -90 to 90; lon: \"-1e9\" is not a number of degrees from -180 to 180"}`},
		{"GET", "/city/v1/closest?lat=NaN&lon=Inf&language=cs", nil, nil, 400, `{"message":"lat: \"NaN\" is not a number of degrees from -90 to 90; lon: \"Inf\" is not a number of degrees from -180 to 180"}`},
		{"GET", "/city/v1/closest?language=cs", nil, [][]string{featured}, 200, praha},
		{"GET", "/city/v1/closest?language=pl", nil, [][]string{featured}, 404, `{"message":"lat, lon: no city is near"}`},
		{"GET", "/city/v1/closest?language=cs", []string{"Fastly-Geo-Lat", "1", "Fastly-Geo-Lon", "2"}, [][]string{{"city/3"}}, 200, berlin},
		{"GET", "/city/v1/closest?language=cs", []string{"Fastly-Geo-Lat", "1", "Fastly-Geo-Lon", "2"}, [][]string{nothing, {"city/3"}}, 200, berlin},
		{"GET", "/city/v1/closest?language=cs", []string{"Fastly-Geo-Lat", "0.0", "Fastly-Geo-Lon", "-0"}, [][]string{featured}, 200, praha},
		{"GET", "/city/v1/closest?language=cs", []string{"Fastly-Geo-Lat", "1"}, [][]string{featured}, 200, praha},
		{"GET", "/city/v1/closest?language=cs", []string{"Fastly-Geo-Lat", "x", "Fastly-Geo-Lon", "999"}, [][]string{featured}, 200, praha},

		{"GET", "/city/v1/associatedFeatured?id=1&language=cs", nil, nil, 200, praha},
		{"GET", "/city/v1/associatedFeatured?id=2&language=cs", nil, [][]string{{"city/4"}}, 200, wien},
		{"GET", "/city/v1/associatedFeatured?id=2&language=cs", nil, [][]string{nothing}, 404, `{"message":"id: there is no city 2"}`},
		{"GET", "/city/v1/associatedFeatured?id=5&language=cs", nil, nil, 404, `{"message":"id: there is no city 5"}`},
		{"GET", "/city/v1/associatedFeatured?language=cs", nil, nil, 400, `{"message":"id: missing; want a whole number"}`},

		{"GET", "/city/v1/featured?language=cs", nil, [][]string{featured}, 200, `{"cities":[` + praha + `,` + wien + `,` + berlin + `]}`},
		{"GET", "/city/v1/featured?language=sk", nil, [][]string{nothing}, 200, `{"cities":[]}`},
		{"GET", "/city/v1/featured", nil, nil, 400, `{"message":"language: missing; want one of cs, de, en, pl, sk"}`},

		{"GET", "/city/v1/search?query=x&language=cs", nil, [][]string{{"city/3", "city/1"}}, 200, `{"cities":[` + berlin + `,` + praha + `]}`},
		{"GET", "/city/v1/search?query=x&language=cs&countryIso=", nil, [][]string{nothing}, 200, `{"cities":[]}`},
		{"GET", "/city/v1/search?query=+%20&language=cs", nil, nil, 400, `{"message":"query: missing or empty"}`},
		{"GET", "/city/v1/search?language=cs", nil, nil, 400, `{"message":"query: missing or empty"}`},
		{"GET", "/city/v1/search?query=" + strings.Repeat("a", 201) + "&language=cs", nil, nil, 400, `{"message":"query: longer than 200 bytes"}`},
		{"GET", "/city/v1/search?query=%ff&language=cs", nil, nil, 400, `{"message":"query: not UTF-8"}`},
		{"GET", "/city/v1/search?query=x&language=cs&countryIso=CZE", nil, nil, 400, `{"message":"countryIso: \"CZE\" is not a country code of two letters"}`},

		{"GET", "/v1/benchmark", nil, nil, 200, ``},
		{"GET", "/v1/benchmark?delay=1", nil, nil, 200, ``},
		{"GET", "/v1/benchmark?delay=10001", nil, nil, 400, `{"message":"delay: \"10001\" is not a whole number of milliseconds from 0 to 10000"}`},
		{"GET", "/v1/benchmark?delay=", nil, nil, 400, `{"message":"delay: \"\" is not a whole number of milliseconds from 0 to 10000"}`},

		{"GET", "/nothing", nil, nil, 404, `{"message":"path: there is nothing here; see /api-docs"}`},
		{"GET", "//city/v1/get", nil, nil, 404, `{"message":"path: there is nothing here; see /api-docs"}`},
		{"POST", "/city/v1/get?id=1&language=cs", nil, nil, 405, `{"message":"method: only GET is served here"}`},
	} {
		t.Run(tt.method+" "+tt.target, func(t *testing.T) {
			s := newService(t)
			s.elastic.finds(tt.found...)
			w := s.ask(tt.method, tt.target, tt.header...)
			if w.Code != tt.status || w.Body.String() != tt.body {
				t.Errorf("%d %s, want %d %s", w.Code, w.Body, tt.status, tt.body)
			}
			if got := w.Header().Get("Content-Type"); tt.body != "" && got != "application/json" {
				t.Errorf("content type %q", got)
			}
			if len(s.elastic.found) > 0 {
				t.Errorf("searches that were not made: %v", s.elastic.found)
			}
		})
	}
}

// What the store is asked is what the API description says.
func TestQueries(t *testing.T) {
	s := newService(t)
	for _, tt := range []struct {
		target string
		header []string
		found  [][]string
		want   []string
	}{
		{"/city/v1/closest?lat=50.5&lon=14.25&language=cs", nil, [][]string{{}, {"city/1"}}, []string{
			`{"query":{"bool":{"filter":[{"geo_shape":{"geometry":{"relation":"intersects","shape":{"coordinates":[14.25,50.5],"type":"point"}}}}]}},"size":1}`,
			`{"query":{"match_all":{}},"size":1,"sort":[{"_geo_distance":{"centroid":{"lat":50.5,"lon":14.25},"order":"asc"}}]}`}},
		{"/city/v1/closest?language=cs", []string{"Fastly-Geo-Lat", "-1", "Fastly-Geo-Lon", "2"}, [][]string{{}, {"city/1"}}, []string{
			`{"query":{"bool":{"filter":[{"geo_shape":{"geometry":{"relation":"intersects","shape":{"coordinates":[2,-1],"type":"point"}}}},{"term":{"isFeatured":true}}]}},"size":1}`,
			`{"query":{"term":{"isFeatured":true}},"size":1,"sort":[{"_geo_distance":{"centroid":{"lat":-1,"lon":2},"order":"asc"}}]}`}},
		{"/city/v1/associatedFeatured?id=2&language=cs", nil, [][]string{{"city/1"}}, []string{
			`{"query":{"term":{"isFeatured":true}},"size":1,"sort":[{"_geo_distance":{"centroid":{"lat":50.1,"lon":14.4},"order":"asc"}}]}`}},
		{"/city/v1/featured?language=de", nil, nil, []string{
			`{"query":{"term":{"isFeatured":true}},"size":1000,"sort":["countryIso",{"population":"desc"}]}`}},
		{"/city/v1/search?query=%C5%81%22&language=pl&countryIso=pl", nil, nil, []string{
			`{"query":{"function_score":{"functions":[{"field_value_factor":{"field":"population","missing":500,"modifier":"ln2p"}}],` +
				`"query":{"bool":{"filter":[{"term":{"countryIso":"PL"}}],"must":[{"multi_match":{"fields":[` +
				`"name.pl.autocomplete^8","name.pl.autocomplete._2gram^8","name.pl.autocomplete._3gram^8",` +
				`"name.pl.autocomplete_ascii^4","name.pl.autocomplete_ascii._2gram^4","name.pl.autocomplete_ascii._3gram^4",` +
				`"name.all.autocomplete^2","name.all.autocomplete._2gram^2","name.all.autocomplete._3gram^2",` +
				`"name.all.autocomplete_ascii^1","name.all.autocomplete_ascii._2gram^1","name.all.autocomplete_ascii._3gram^1"],` +
				`"query":"Ł\"","type":"bool_prefix"}}]}}}},"size":10}`}},
	} {
		s.elastic.finds(tt.found...)
		s.ask("GET", tt.target, tt.header...)
		_, bodies, _ := s.elastic.asked()
		if !slices.Equal(bodies, tt.want) {
			t.Errorf("%s asked\n%s\nwant\n%s", tt.target, strings.Join(bodies, "\n"), strings.Join(tt.want, "\n"))
		}
	}
	calls, _, _ := s.elastic.asked()
	for _, c := range calls {
		if !strings.HasSuffix(c, "?_source_excludes=geometry,population") {
			t.Errorf("%s brings the geometry", c)
		}
	}
}

// Regions are asked for once and kept, cities never.
func TestRegionsAreKept(t *testing.T) {
	s := newService(t)
	for range 3 {
		s.ask("GET", "/city/v1/get?id=1&language=cs")
		s.ask("GET", "/city/v1/get?id=2&language=de")
	}
	calls, _, _ := s.elastic.asked()
	regions, cities := 0, 0
	for _, c := range calls {
		if strings.Contains(c, "/region/") {
			regions++
		} else {
			cities++
		}
	}
	if regions != 1 || cities != 6 {
		t.Errorf("%d calls for regions, %d for cities", regions, cities)
	}
}

// Trouble with the store is told to the client without details, and to the operator with them.
func TestStoreTrouble(t *testing.T) {
	for _, tt := range []struct {
		name, target string
		broken       http.HandlerFunc
		logged       string
	}{
		{"status 500", "/city/v1/get?id=1&language=cs", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(500)
			io.WriteString(w, "shards failed")
		}, `error: /city/v1/get: GET /city/_source/1: status 500: "shards failed"`},
		{"no JSON", "/city/v1/get?id=1&language=cs", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<html>") }, "read answer: invalid character"},
		{"breaks off", "/city/v1/get?id=1&language=cs", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			io.WriteString(w, "{")
		}, "read answer: unexpected EOF"},
		{"endless", "/city/v1/get?id=1&language=cs", func(w http.ResponseWriter, _ *http.Request) {
			for chunk := make([]byte, 1<<20); ; {
				if _, err := w.Write(chunk); err != nil {
					return
				}
			}
		}, "the answer is longer than 16777216 bytes"},
		{"no index", "/city/v1/featured?language=cs", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) }, "POST /city/_search: status 404"},
		{"a region that does not exist", "/city/v1/get?id=9&language=cs", nil, "region 8 of city 9: the store does not have it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newService(t)
			s.elastic.breaks(tt.broken)
			w := s.ask("GET", tt.target)
			if w.Code != 502 || w.Body.String() != `{"message":"store: Elasticsearch did not answer as it should"}` {
				t.Errorf("%d %s", w.Code, w.Body)
			}
			if !strings.Contains(s.log.String(), tt.logged) {
				t.Errorf("logged %q, want %q in it", s.log, tt.logged)
			}
		})
	}
	t.Run("gone", func(t *testing.T) {
		s := newService(t)
		s.elastic.Close()
		if w := s.ask("GET", "/city/v1/get?id=1&language=cs"); w.Code != 502 {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}

func TestClientGoesAway(t *testing.T) {
	s := newService(t)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("GET", "/v1/benchmark?delay=9000", nil).WithContext(ctx))
	s.requests.flush()
	if !strings.Contains(s.log.String(), " GET /v1/benchmark?delay=9000 499 ") || strings.Contains(s.log.String(), "error") {
		t.Errorf("logged %q", s.log)
	}
}

func TestRequestLog(t *testing.T) {
	s := newService(t)
	s.ask("GET", "/city/v1/get?id=1&language=cs")
	s.ask("POST", "/x?y="+strings.Repeat("z", 5000))
	deadline := time.Now().Add(5 * time.Second)
	for strings.Count(s.log.String(), "\n") < 2 && time.Now().Before(deadline) {
		time.Sleep(5 * time.Millisecond) // lines are written in batches, but soon
	}
	lines := strings.Split(s.log.String(), "\n")
	if len(lines) != 3 || !strings.Contains(lines[0], "Z GET /city/v1/get?id=1&language=cs 200 ") || !strings.HasSuffix(lines[0], "ms") {
		t.Fatalf("logged %q", lines)
	}
	if !strings.Contains(lines[1], "Z POST /x?y=zzz") || !strings.Contains(lines[1], "z 405 ") && !strings.Contains(lines[1], "z 404 ") || len(lines[1]) > maxURI+100 {
		t.Errorf("logged %q", lines[1])
	}
}
