package dataset

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/locbench/locbench/internal/testenv"
)

// stored is a stored city or region: all fields of the spec and no others.
type stored struct {
	ID         int64
	CountryISO string `json:"countryIso"`
	Centroid   struct{ Lat, Lon float64 }
	CS         string `json:"name.cs"`
	DE         string `json:"name.de"`
	EN         string `json:"name.en"`
	PL         string `json:"name.pl"`
	SK         string `json:"name.sk"`
	RegionID   *int64
	IsFeatured *bool
	Timezone   *string
	Population *int64
	Geometry   struct {
		Type        string
		Coordinates [][][2]float64
	}
}

func (d stored) names() Names { return Names{d.CS, d.DE, d.EN, d.PL, d.SK} }

func decode(t testing.TB, doc Doc) (d stored) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(doc.Source))
	dec.DisallowUnknownFields()
	err := dec.Decode(&d)
	testenv.Need(t, err == nil, "document %s: %v\n%.300s", doc.ID, err, doc.Source)
	testenv.Equal(t, strconv.FormatInt(d.ID, 10), doc.ID, d.ID)
	return d
}

func mustOpen(t testing.TB, spec Spec) Set {
	t.Helper()
	s := testenv.Must(Open(spec))(t)
	return s
}

func TestBundled(t *testing.T) {
	set := mustOpen(t, Spec{})
	info := set.Info()
	testenv.Check(t, info.Name == "bundled" && info.Size == "14,945 cities, 63 regions" && len(info.Hash) == 64,
		"info %+v", info)
	regions := make(map[int64]stored)
	for doc, err := range set.Documents(RegionIndex) {
		testenv.OK(t, err)
		d := decode(t, doc)
		testenv.Check(t, d.RegionID == nil && d.IsFeatured == nil && d.Timezone == nil && d.Population == nil,
			"region %s has fields of a city", doc.ID)
		regions[d.ID] = d
		checkRing(t, d, 3)
		testenv.Check(t, !slices.Contains(d.names().slice(), ""), "region %d lacks a name: %q", d.ID, d.names())
	}
	testenv.Equal(t, len(regions), 63)

	var ids []int64
	countries, featured, size, named := map[string]int{}, map[string][]string{}, 0, 0
	for doc, err := range set.Documents(CityIndex) {
		testenv.OK(t, err)
		d := decode(t, doc)
		ids = append(ids, d.ID)
		countries[d.CountryISO]++
		size += len(doc.Source)
		testenv.Need(t, d.RegionID != nil && regions[*d.RegionID].CountryISO == d.CountryISO,
			"city %d in %s has region %v", d.ID, d.CountryISO, d.RegionID)
		if *d.IsFeatured {
			featured[d.CountryISO] = append(featured[d.CountryISO], d.EN)
		}
		testenv.Check(t, *d.Timezone != "" && *d.Population >= 0 && !slices.Contains(d.names().slice(), ""),
			"city %d: %.300s", d.ID, doc.Source)
		if d.CS != d.DE || d.DE != d.EN || d.EN != d.PL || d.PL != d.SK {
			named++
		}
		if len(ids)%50 == 0 || *d.IsFeatured {
			checkRing(t, d, 12)
		}
	}
	testenv.Check(t, len(ids) == 14_945 && len(countries) == 5, "%d cities in %v, want 14,945 in five countries",
		len(ids), countries)
	if slices.Sort(ids); len(slices.Compact(slices.Clone(ids))) != len(ids) {
		t.Error("an id appears twice")
	}
	testenv.Check(t, named >= 100, "only %d cities have names that differ between languages", named)
	for _, country := range []string{"CZ", "DE", "PL", "SK"} {
		testenv.Check(t, len(featured[country]) != 0, "no featured city in %s: %v", country, featured)
	}
	mean := size / len(ids)
	testenv.Check(t, mean >= 2000 && mean <= 4000, "a document has %d bytes on average, want a few kB", mean)
	got, err := set.IDs(t.Context())
	if slices.Sort(got); err != nil || !slices.Equal(got, ids) {
		t.Errorf("IDs gives other ids than Documents (%d and %d): %v", len(got), len(ids), err)
	}
}

func (n Names) slice() []string { return n[:] }

// checkRing checks the rules of Elasticsearch's geo_shape, and looks for the centroid inside.
func checkRing(t *testing.T, d stored, least int) {
	t.Helper()
	testenv.Need(t, d.Geometry.Type == "Polygon" && len(d.Geometry.Coordinates) == 1, "%d: geometry %+.100v", d.ID,
		d.Geometry)
	ring := d.Geometry.Coordinates[0]
	n := len(ring) - 1
	testenv.Need(t, n >= least && ring[0] == ring[n], "%d: a ring of %d points, closed: %v", d.ID, n,
		ring[0] == ring[n])
	area, inside := 0.0, false
	for i := range n {
		a, b := ring[i], ring[i+1]
		area += a[0]*b[1] - b[0]*a[1]
		testenv.Check(t, a != b, "%d: point %d twice", d.ID, i)
		if lat, lon := d.Centroid.Lat, d.Centroid.Lon; (a[1] > lat) != (b[1] > lat) && lon < (b[0]-a[0])*(lat-a[1])/(b[1]-a[1])+a[0] {
			inside = !inside
		}
		for j := i + 2; j < n; j++ {
			testenv.Need(t, (i <= 0 && j >= n-1) || !cross(a, b, ring[j], ring[j+1]), "%d: sides %d and %d cross",
				d.ID, i, j)
		}
	}
	testenv.Check(t, area > 0 && inside,
		"%d: area %v (counter-clockwise is positive), centroid inside: %v", d.ID, area, inside)
}

func cross(a, b, c, d [2]float64) bool {
	side := func(p, q, r [2]float64) bool { return (q[0]-p[0])*(r[1]-p[1]) > (q[1]-p[1])*(r[0]-p[0]) }
	return side(a, b, c) != side(a, b, d) && side(c, d, a) != side(c, d, b)
}

// The names that users look for first, and the ids of the home cities, which are constants in the
// contenders.
func TestBundledFacts(t *testing.T) {
	b := testenv.Must(loadBundled())(t)
	byID := make(map[int64]City)
	for _, c := range b.cities {
		byID[c.ID] = c
	}
	regions := make(map[int64]Region)
	for _, r := range b.regions {
		regions[r.ID] = r
	}
	for id, want := range map[int64]struct {
		names    Names
		region   string // English
		featured bool
	}{
		3067696: {Names{"Praha", "Prag", "Prague", "Praga", "Praha"}, "Prague", true},
		3078610: {Names{"Brno", "Brünn", "Brno", "Brno", "Brno"}, "Jihomoravský", true},
		2950159: {Names{"Berlín", "Berlin", "Berlin", "Berlin", "Berlín"}, "Berlin", true},
		756135:  {Names{"Varšava", "Warschau", "Warsaw", "Warszawa", "Varšava"}, "Mazovia", true},
		3060972: {Names{"Bratislava", "Bratislava", "Bratislava", "Bratysława", "Bratislava"}, "Bratislava", true},
		2761369: {Names{"Vídeň", "Wien", "Vienna", "Wiedeń", "Viedeň"}, "Vienna", true},
		2867714: {Names{"Mnichov", "München", "Munich", "Monachium", "Mníchov"}, "Bavaria", true},
		3068160: {Names{"Plzeň", "Pilsen", "Pilsen", "Pilzno", "Plzeň"}, "Plzeňský", false},
		2886242: {Names{"Kolín nad Rýnem", "Köln", "Cologne", "Kolonia", "Kolín nad Rýnom"}, "North Rhine-Westphalia", false},
	} {
		c := byID[id]
		if c.Name != want.names || regions[c.RegionID].Name[2] != want.region || c.IsFeatured != want.featured {
			t.Errorf("city %d is %+v in %q", id, c, regions[c.RegionID].Name)
		}
	}
}

func TestGenerated(t *testing.T) {
	spec := Spec{Cities: 2000, Vertices: 20, Seed: 7}
	set := mustOpen(t, spec)
	if info := set.Info(); info.Name != "generated 2000 × 20, seed 7" || info.Size != "2,000 cities, 63 regions" {
		t.Errorf("info %+v", info)
	}
	seen := make(map[int64]bool)
	featured := 0
	for doc, err := range set.Documents(CityIndex) {
		testenv.OK(t, err)
		d := decode(t, doc)
		testenv.Need(t, !seen[d.ID], "id %d twice", d.ID)
		seen[d.ID] = true
		if *d.IsFeatured {
			featured++
		}
		n := len(d.Geometry.Coordinates[0])
		testenv.Need(t, n == 21, "city %d has %d points, want 20 and the first again", d.ID, n)
		checkRing(t, d, 20)
	}
	ids, err := set.IDs(t.Context())
	testenv.Check(t, err == nil && len(ids) == 2000 && len(seen) == 2000 && seen[3067696] && featured == 13,
		"%d documents, %d ids, %d featured, Prague %v: %v", len(seen), len(ids), featured, seen[3067696], err)
	for _, id := range ids {
		testenv.Need(t, seen[id], "id %d has no stored", id)
	}
	for name, other := range map[string]Spec{
		"seed": {Cities: 2000, Vertices: 20, Seed: 8}, "vertices": {Cities: 2000, Vertices: 21, Seed: 7}, "number": {Cities: 2001, Vertices: 20, Seed: 7},
	} {
		t.Run(name, func(t *testing.T) {
			o := mustOpen(t, other)
			testenv.Check(t, o.Info().Hash != set.Info().Hash && digest(t, o) != digest(t, set),
				"hash does not depend on %s", name)
		})
	}
	few := mustOpen(t, Spec{Cities: 3})
	testenv.Check(t, digest(t, few) != "" && few.Info().Size == "3 cities, 63 regions", "three cities: %+v", few.Info())
	for _, bad := range []Spec{{Cities: -1}, {Cities: 1_000_001}, {Cities: 1, Vertices: 2}, {Cities: 1, Vertices: 1 << 20}, {Cities: 1, Dir: "x"}} {
		testenv.Check(t, testenv.Err(Open(bad)) != nil, "%+v was accepted", bad)
	}
}

func digest(t testing.TB, set Set) string {
	t.Helper()
	sum := sha256.New()
	for _, index := range set.Indices() {
		n := int64(0)
		for doc, err := range set.Documents(index.Name) {
			testenv.OK(t, err)
			sum.Write(doc.AppendAction(nil, "index"))
			sum.Write(doc.Source)
			n++
		}
		testenv.Equal(t, n, index.Count, index.Name)
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// Results are compared between machines by the hash of the data, so documents must not depend on
// the machine or the Go version. If they change on purpose, raise shapeVersion (or the version in
// Generated) and write the new digests here.
func TestDocuments_Digest(t *testing.T) {
	for want, spec := range map[string]Spec{
		"c61bac378613f7ee": {},
		"2d27deaa702027d4": {Cities: 5000, Seed: 1},
	} {
		t.Run(want, func(t *testing.T) { testenv.Equal(t, digest(t, mustOpen(t, spec)), want, spec) })
	}
}

func TestDocuments_OtherIndices(t *testing.T) {
	for _, set := range []Set{mustOpen(t, Spec{}), mustOpen(t, Spec{Cities: 5})} {
		for _, err := range set.Documents("nothing") {
			testenv.Fails(t, err, `"nothing"`)
		}
		for range set.Documents(CityIndex) {
			break // must not panic
		}
	}
}

func TestMappings(t *testing.T) {
	for name, mapping := range map[string][]byte{CityIndex: CityMapping(), RegionIndex: RegionMapping()} {
		t.Run(name, func(t *testing.T) {
			var body struct {
				Mappings struct {
					Properties map[string]struct {
						Type       string
						Properties map[string]struct {
							Type   string
							CopyTo string `json:"copy_to"`
							Fields map[string]struct{ Type, Analyzer string }
						}
					}
				}
			}
			testenv.OK(t, json.Unmarshal(mapping, &body))
			want := map[string]string{"id": "long", "countryIso": "keyword", "centroid": "geo_point", "geometry": "geo_shape", "name": ""}
			if name == CityIndex {
				want["regionId"], want["isFeatured"], want["timezone"], want["population"] = "long", "boolean", "keyword", "long"
			}
			for field, kind := range want {
				got, ok := body.Mappings.Properties[field]
				testenv.Check(t, ok && got.Type == kind, "%s.%s is %+v, want %s", name, field, got, kind)
			}
			testenv.Equal(t, len(body.Mappings.Properties), len(want), name)
			for _, language := range append(Languages[:], "all") {
				f := body.Mappings.Properties["name"].Properties[language]
				if f.Type != "text" || (f.CopyTo == "name.all") != (language != "all") || f.Fields["raw"].Type != "keyword" ||
					f.Fields["autocomplete"] != (struct{ Type, Analyzer string }{"search_as_you_type", "standard"}) ||
					f.Fields["autocomplete_ascii"] != (struct{ Type, Analyzer string }{"search_as_you_type", "lowercase_asciifolding"}) {
					t.Errorf("%s.name.%s is %+v", name, language, f)
				}
			}
		})
	}
}

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
		testenv.Check(t, err == nil && back-d <= 0.51e-6 && d-back <= 0.51e-6 && json.Valid([]byte(got[1:])),
			"appendDegrees(%v) = %s", d, got)
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
