package embedded

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/testenv"
)

func TestDelays(t *testing.T) {
	for _, bad := range [][2]time.Duration{{-1, 0}, {0, time.Second}, {2, 1}, {1, -1}} {
		testenv.Check(t, testenv.Err(newDelays(bad[0], bad[1], 1)) != nil, "latency %v with p99 %v was accepted",
			bad[0], bad[1])
	}
	if d, err := newDelays(0, 0, 1); d != nil || err != nil {
		t.Errorf("no latency: %v, %v", d, err)
	}
	constant, err := newDelays(3*time.Millisecond, 0, 1)
	testenv.Check(t, err == nil && constant.next() == 3*time.Millisecond, "constant latency: %v, %v",
		constant.next(), err)
	draw := func(seed uint64) []time.Duration {
		d := testenv.Must(newDelays(2*time.Millisecond, 20*time.Millisecond, seed))(t)
		list := make([]time.Duration, 100_000)
		for i := range list {
			list[i] = d.next()
		}
		return list
	}
	one, again, other := draw(1), draw(1), draw(2)
	testenv.Check(t, slices.Equal(one, again) && !slices.Equal(one, other),
		"the latencies must depend only on the seed")
	slices.Sort(one)
	for _, q := range []struct {
		share float64
		want  time.Duration
	}{{0.5, 2 * time.Millisecond}, {0.99, 20 * time.Millisecond}} {
		got := one[int(q.share*float64(len(one)))]
		if r := float64(got) / float64(q.want); r < 0.95 || r > 1.05 {
			t.Errorf("%v quantile is %v, want about %v", q.share, got, q.want)
		}
	}
}

// The values come from Lucene's SmallFloat.
func TestLengthEncoding(t *testing.T) {
	for n := range 40 {
		testenv.Equal(t, decodeLength(encodeLength(n)), int64(n), n)
	}
	for n, want := range map[int]int64{40: 40, 41: 40, 42: 42, 55: 54, 56: 56, 100: 96, 1000: 984, math.MaxInt32: 2013265944} {
		testenv.Equal(t, decodeLength(encodeLength(n)), want, n)
	}
	last := int64(-1)
	for b := range 256 {
		n := decodeLength(byte(b))
		testenv.Need(t, n > last, "code %d stands for %d, the one before for %d", b, n, last)
		last = n
	}
}

func TestTokens(t *testing.T) {
	standard, fold := &analyzer{}, &analyzer{fold: true}
	tests := []struct {
		a    *analyzer
		text string
		want string
	}{
		{standard, "Ústí nad  Labem", "ústí nad labem"},
		{fold, "Ústí nad Labem", "usti nad labem"},
		{fold, "STRASSE Straße ẞ Łódź", "strasse strasse ss lodz"},
		{standard, "St.Pölten, Bratislava-Petržalka o'neil", "st.pölten bratislava petržalka o'neil"},
		{standard, "", ""},
		{standard, "... !", ""},
	}
	for _, tt := range tests {
		var got []string
		for _, tok := range tt.a.tokens(tt.text, map[analyzed][]token{}) {
			got = append(got, tok.term)
		}
		testenv.Equal(t, strings.Join(got, " "), tt.want, tt.text)
	}
	long := tokenize(strings.Repeat("x", 300))
	testenv.Check(t, len(long) == 2 && len(long[0].term) == 255 && long[1].end == 300,
		"a long word is cut into %d tokens", len(long))
	pairs := shingle(tokenize("a b c"), 2)
	testenv.Check(t, len(pairs) == 2 && pairs[1] == (token{"b c", 5}), "pairs: %v", pairs)
	got := shingle(tokenize("a b"), 3)
	testenv.Check(t, got == nil, "triples of two: %v", got)
}

func TestShapeContains(t *testing.T) {
	doc := []byte(`{"type":"MultiPolygon","coordinates":[
		[[[0,0],[10,0],[10,10],[0,10],[0,0]],[[4,4],[6,4],[6,6],[4,6],[4,4]]],
		[[[5,5],[20,5],[20,6],[5,6],[5,5]]]]}`)
	s := testenv.Must(parseShape(doc, span{0, len(doc)}))(t)
	for _, tt := range []struct {
		lon, lat float64
		want     bool
	}{
		{1, 1, true}, {0, 0, true}, {10, 5, true}, {5, 10, true}, {10, 10, true}, // inside, corner, edges
		{4.5, 4.5, false}, {4, 5, true}, // in the hole, on its edge
		{5.5, 5.5, true}, // in the hole of one polygon, but in the other
		{15, 5.5, true}, {20.000001, 5.5, false}, {-0.000001, 5, false}, {5, 11, false}, {15, 4, false},
	} {
		p := testenv.Must(encodePlace(tt.lat, tt.lon))(t)
		testenv.Equal(t, s.contains(p), tt.want, tt.lon, tt.lat)
		var g grid
		g.add(7, s)
		found := false
		g.candidates(p, func(doc uint32) { found = found || doc == 7 })
		testenv.Check(t, !tt.want || found, "(%v, %v) is not found by the grid", tt.lon, tt.lat)
	}
	for _, bad := range []string{`[]`, `{}`, `{"type":"Polygon"}`, `{"type":"Polygon","coordinates":[]}`, `{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1]]]}`,
		`{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,1]]]}`, `{"type":"LineString","coordinates":[[0,0],[1,1]]}`, `{"type":"Point","coordinates":[0,91]}`,
		`{"type":"Point","coordinates":[0]}`, `{"type":"Point","coordinates":["a","b"]}`, `{"type":"Point","coordinates":[0,1,2,3]}`, `"POINT (1 2)"`,
		`{"type":"Polygon","coordinates":[[[-170,0],[170,0],[170,1],[-170,1],[-170,0]]]}`, `{"type":"MultiPolygon","coordinates":7}`} {
		testenv.Check(t, testenv.Err(parseShape([]byte(bad), span{0, len(bad)})) != nil, "%s was accepted", bad)
	}
}

func TestDistance(t *testing.T) {
	p, err := encodePlace(48.2082, 16.3738) // Vienna
	testenv.OK(t, err)
	// From Prague; Elasticsearch reports the same to the last digit that Go prints alike.
	if got := distanceMeters(distanceKey(50.0755, 14.4378, p)); math.Abs(got-251_000) > 1000 {
		t.Errorf("Prague to Vienna: %v m", got)
	}
	if distanceMeters(distanceKey(48.2082, 16.3738, p)) > 0.1 {
		t.Error("the distance of a place to itself is not 0")
	}
}

// TestNumber compares with strconv, which rounds correctly.
func TestNumber(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 100_000 {
		text := strconv.FormatFloat((r.Float64()-0.5)*math.Pow10(r.IntN(20)-6), 'f', r.IntN(12), 64)
		want, err := strconv.ParseFloat(text, 64)
		testenv.OK(t, err)
		got, end, err := number([]byte(text+","), 0)
		testenv.Need(t, math.Float64bits(got) == math.Float64bits(want) && end == len(text) && err == nil,
			"%s is read as %v up to %d: %v", text, got, end, err)
	}
	for text, want := range map[string]float64{"-0": math.Copysign(0, -1), "1e3": 1000, "1.5E-2": 0.015, "-7": -7} {
		if got, end, err := number([]byte(text), 0); math.Float64bits(got) != math.Float64bits(want) || end != len(text) || err != nil {
			t.Errorf("%s is read as %v up to %d: %v", text, got, end, err)
		}
	}
	for _, text := range []string{`"1"`, "null", "[1]", "{}", "1e999"} {
		_, _, err := number([]byte(text), 0)
		testenv.Check(t, err != nil, "%s was read", text)
	}
}

func TestSourcePaths(t *testing.T) {
	for _, tt := range []struct {
		path, key     string
		covers, below bool
	}{{"a", "a", true, false}, {"a", "ab", false, false}, {"a", "a.b", true, false}, {"a.b", "a", false, true}, {"a.b", "a.b", true, false},
		{"ab", "a", false, false}, {"a.", "a", false, true}} {
		testenv.Equal(t, covers([]string{tt.path}, []byte(tt.key)), tt.covers, tt.path, tt.key)
		testenv.Equal(t, below([]string{tt.path}, []byte(tt.key)) != "", tt.below, tt.path, tt.key)
	}
}

// TestNearLimit checks that choosing candidates loses none of the nearest documents.
func TestNearLimit(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	c, m := &column{}, &matches{set: make([]uint64, 8)}
	for i := range uint32(512) {
		p := testenv.Must(encodePlace(math.Asin(r.Float64()*2-1)*180/math.Pi, r.Float64()*360-180))(t)
		if i%3 == 0 { // many at nearly the same place
			p = place{int32(r.IntN(3)), int32(r.IntN(3))}
		}
		c.places, c.vectors, c.has = append(c.places, p), append(c.vectors, vectorOf(p.lat(), p.lon())), append(c.has, i%7 != 0)
		m.add(i)
	}
	for _, count := range []int{1, 2, 20, 100} {
		for range 50 {
			lat, lon := r.Float64()*180-90, r.Float64()*360-180
			if count == 20 {
				lat, lon = 0, 0
			}
			limit := nearLimit(c, m, vectorOf(lat, lon), count)
			var all []uint32
			for i := range uint32(512) {
				if c.has[i] {
					all = append(all, i)
				}
			}
			slices.SortStableFunc(all, func(a, b uint32) int {
				return cmp.Compare(distanceKey(lat, lon, c.places[a]), distanceKey(lat, lon, c.places[b]))
			})
			for _, i := range all[:count] {
				if d := c.vectors[i].chord2(vectorOf(lat, lon)); d > limit {
					t.Fatalf("one of the %d nearest is left out: %v > %v", count, d, limit)
				}
			}
		}
	}
}
