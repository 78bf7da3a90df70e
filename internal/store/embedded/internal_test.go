package embedded

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/testenv"
)

func TestDelays(t *testing.T) {
	testenv.Check(t, newDelays(0, 0, 1) == nil && newDelays(0, time.Second, 1) == nil, "a latency without a median")
	testenv.Equal(t, newDelays(3*time.Millisecond, 0, 1).next(), 3*time.Millisecond)
	draw := func(seed uint64) []time.Duration {
		d := newDelays(2*time.Millisecond, 20*time.Millisecond, seed)
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
		r := float64(got) / float64(q.want)
		testenv.Check(t, r >= 0.95 && r <= 1.05, "%v quantile is %v, want about %v", q.share, got, q.want)
	}
}

func TestWords(t *testing.T) {
	for _, tt := range []struct {
		text, words, ascii string
		open               bool
	}{
		{"Ústí nad  Labem", "ústí nad labem", "usti nad labem", true},
		{"STRASSE Straße ẞ Łódź ", "strasse straße ß łódź", "strasse strasse ss lodz", false},
		{"St.Pölten, Bratislava-Petržalka o'neil", "st.pölten bratislava petržalka o'neil", "st.polten bratislava petrzalka o'neil", true},
		{"1.5 a.1 b. (c)", "1.5 a 1 b c", "1.5 a 1 b c", false},
		{"", "", "", false},
		{"... !", "", "", false},
	} {
		got, open := termsOf(tt.text)
		testenv.Equal(t, strings.Join(got[0][0], " "), tt.words, tt.text)
		testenv.Equal(t, strings.Join(got[1][0], " "), tt.ascii, tt.text)
		testenv.Equal(t, open, tt.open, tt.text)
	}
	got, _ := termsOf("a b c")
	testenv.Equal(t, strings.Join(got[0][1], ","), "a b,b c")
	testenv.Equal(t, strings.Join(got[0][2], ","), "a b c")
}

func TestShapeContains(t *testing.T) {
	doc := []byte(`{"type":"MultiPolygon","coordinates":[
		[[[0,0],[10,0],[10,10],[0,10],[0,0]],[[4,4],[6,4],[6,6],[4,6],[4,4]]],
		[[[15,5],[20,5],[20,6],[15,6],[15,5]]]]}`)
	s := testenv.Must(parseShape(doc))(t)
	for _, tt := range []struct {
		lon, lat float64
		want     bool
	}{
		{1, 1, true}, {0, 0, true}, {10, 5, true}, {5, 10, true}, {10, 10, true}, // inside, corner, edges
		{4.5, 4.5, false}, {4, 5, true}, // in the hole, on its edge
		{16, 5.5, true}, {20.000001, 5.5, false}, {-0.000001, 5, false}, {5, 11, false}, {15, 4, false},
	} {
		p := point{tt.lon, tt.lat}
		testenv.Equal(t, s.contains(p), tt.want, tt.lon, tt.lat)
	}
	wide := grid{cells: map[cell][]uint32{}}
	wide.add(7, s)
	testenv.Check(t, slices.Equal(wide.candidates(point{}), []uint32{7}) && len(wide.cells) == 0, "a wide shape: %v", wide)
	narrow := testenv.Must(parseShape([]byte(`{"coordinates":[[[-0.3,-0.1,5],[0.3,-0.1],[0.3,0.1],[-0.3,-0.1,5]]],"type":"Polygon"}`)))(t)
	wide.add(8, narrow)
	for at, want := range map[point]int{{0, 0}: 2, {-0.3, -0.1}: 2, {0.3, 0.1}: 2, {-0.41, 0}: 1, {0, 0.21}: 1} {
		testenv.Equal(t, len(wide.candidates(at)), want, at)
	}
	place := testenv.Must(parseShape([]byte(`{"type":"Point","coordinates":[1,2]}`)))(t)
	testenv.Check(t, place.contains(point{1, 2}) && !place.contains(point{1, 2.1}), "a point")
	for _, bad := range []string{`[]`, `{}`, `{"type":"Point","coordinates":[[1,2],[3,4]]}`, `{"type":"Point"}`, `{"type":"Polygon"}`, `{"type":"Polygon","coordinates":[]}`, `{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1]]]}`,
		`{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,1]]]}`, `{"type":"LineString","coordinates":[[0,0],[1,1]]}`, `{"type":"Point","coordinates":[0,91]}`,
		`{"type":"Point","coordinates":[0]}`, `{"type":"Point","coordinates":["a","b"]}`, `{"type":"Point","coordinates":[0,1,2,3]}`, `"POINT (1 2)"`,
		`{"type":"Polygon","coordinates":[[[-170,0],[170,0],[170,1],[-170,1],[-170,0]]]}`, `{"type":"MultiPolygon","coordinates":7}`} {
		testenv.Check(t, testenv.Err(parseShape([]byte(bad))) != nil, "%s was accepted", bad)
	}
}
