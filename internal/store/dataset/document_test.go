package dataset

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/locbench/locbench/internal/testenv"
)

func TestAppendDegrees(t *testing.T) {
	for d, want := range map[float64]string{
		0: "0", 1: "1", -1: "-1", 14.42076: "14.42076", -0.5: "-0.5", 0.000001: "0.000001", -0.0000004: "0", 179.9999999: "180",
		50.1: "50.1", -89.123456: "-89.123456", 7.0000009: "7.000001",
	} {
		testenv.Equal(t, string(appendDegrees(nil, d)), want, d)
	}
}

func FuzzAppendDegrees(f *testing.F) {
	f.Add(14.42076)
	f.Add(-179.9999995)
	f.Fuzz(func(t *testing.T, d float64) {
		if d != d || d < -180 || d > 180 {
			t.Skip("no longitude")
		}
		got := string(appendDegrees([]byte("x"), d))
		back, err := strconv.ParseFloat(got[1:], 64)
		if err != nil || back-d > 0.51e-6 || d-back > 0.51e-6 || !json.Valid([]byte(got[1:])) {
			t.Errorf("appendDegrees(%v) = %s", d, got)
		}
	})
}

func FuzzAppendString(f *testing.F) {
	f.Add("Žďár nad Sázavou")
	f.Add("a\"b\\c\x00\n\x7f\u2028")
	f.Add("\xff")
	f.Fuzz(func(t *testing.T, s string) {
		got := appendString(nil, s)
		var back string
		if err := json.Unmarshal(got, &back); err != nil || back != strings.ToValidUTF8(s, "\uFFFD") && utf8.ValidString(s) {
			t.Errorf("appendString(%q) = %s: %q, %v", s, got, back, err)
		}
		testenv.Check(t, !strings.ContainsAny(string(got), "\n\r"), "appendString(%q) = %q is more than one line", s,
			got)
	})
}

// Contenders and checks rely on every byte of this form.
func TestCityDocument(t *testing.T) {
	r := Region{
		ID: 7, CountryISO: "CZ", Centroid: Point{Lat: 50.5, Lon: 14}, Geometry: []Point{{50, 14}, {50, 15}, {51, 14}, {50, 14}},
		Name: Names{"č", "d", "e", "p", "s"},
	}
	c := City{Region: r, RegionID: 20352, IsFeatured: true, Timezone: "Europe/Prague", Population: 12}
	want := `{"id":7,"countryIso":"CZ","centroid":{"lat":50.5,"lon":14},"name.cs":"č","name.de":"d","name.en":"e","name.pl":"p","name.sk":"s",` +
		`"regionId":20352,"isFeatured":true,"timezone":"Europe/Prague","population":12,` +
		`"geometry":{"type":"Polygon","coordinates":[[[14,50],[15,50],[14,51],[14,50]]]}}`
	testenv.Equal(t, string(c.AppendJSON([]byte{})), want)
	want = `{"id":7,"countryIso":"CZ","centroid":{"lat":50.5,"lon":14},"name.cs":"č","name.de":"d","name.en":"e","name.pl":"p","name.sk":"s",` +
		`"geometry":{"type":"Polygon","coordinates":[[[14,50],[15,50],[14,51],[14,50]]]}}`
	testenv.Equal(t, string(r.AppendJSON([]byte{})), want)
}
