package embedded_test

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
)

// discard is a ResponseWriter that keeps nothing.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(b []byte) (int, error) { return len(b), nil }
func (d discard) WriteHeader(int)             {}

func BenchmarkHandler(b *testing.B) {
	set, cities := bundled(b)
	s, _ := open(b, set)
	run := func(name, method, path, body string) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r := httptest.NewRequest(method, path, strings.NewReader(body))
				s.ServeHTTP(discard{http.Header{}}, r)
			}
		})
	}
	b.Run("request alone", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			httptest.NewRequest(http.MethodGet, "/city/_source/1?_source_excludes=geometry,population", strings.NewReader(""))
		}
	})
	run("source", http.MethodGet, "/city/_source/"+strconv.FormatInt(cities[10].ID, 10)+"?_source_excludes=geometry,population", "")
	run("search", http.MethodPost, "/city/_search?size=10", searchBody("nová ves", "cs", ""))
	run("search one letter", http.MethodPost, "/city/_search?size=10", searchBody("n", "cs", ""))
	run("nearest", http.MethodPost, "/city/_search?size=1", `{"sort":{"_geo_distance":{"centroid":{"lat":50,"lon":14}}}}`)
	run("in a shape", http.MethodPost, "/city/_search?size=1", `{"query":{"bool":{"filter":{"geo_shape":{"geometry":{"shape":{"type":"Point","coordinates":[14,50]}}}}}}}`)
	run("featured", http.MethodPost, "/city/_search?size=1000", `{"query":{"term":{"isFeatured":true}},"sort":["countryIso",{"population":"desc"}]}`)
}
