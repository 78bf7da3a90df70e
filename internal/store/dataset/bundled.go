package dataset

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/locbench/locbench/internal/bench"
)

// Facts about 14,945 cities and 63 regions; their sources are in testdata/cities/SOURCES.md.
//
//go:embed data/cities.tsv.gz
var citiesTSV []byte

//go:embed data/regions.tsv
var regionsTSV string

// shapeVersion is part of every hash: raise it when documents change and the data does not.
const shapeVersion = "shapes 1"

const (
	cityVertices   = 120 // 2.6 kB of GeoJSON
	regionVertices = 8   // around each city, before the hull
	shapeSeed      = 0x10cbe9c4
)

type bundled struct {
	cities  []City   // without geometry
	regions []Region // with geometry
	hash    string
}

// Bundled returns the real data that comes with the binary.
func Bundled() (Set, error) { return loadBundled() }

func loadBundled() (*bundled, error) {
	b := &bundled{}
	sum := newHash()
	z, err := gzip.NewReader(bytes.NewReader(citiesTSV))
	if err == nil {
		err = readTSV(io.TeeReader(z, sum), 14, func(f []string) error {
			c, err := parseCity(f)
			b.cities = append(b.cities, c)
			return err
		})
	}
	if err != nil {
		return nil, fmt.Errorf("bundled cities: %w", err)
	}
	err = readTSV(io.TeeReader(strings.NewReader(regionsTSV), sum), 9, func(f []string) error {
		id, err := strconv.ParseInt(f[0], 10, 64)
		b.regions = append(b.regions, Region{ID: id, CountryISO: f[1], Name: Names(f[4:9])})
		return err
	})
	if err == nil {
		err = b.shapeRegions()
	}
	if err != nil {
		return nil, fmt.Errorf("bundled regions: %w", err)
	}
	b.hash = hex.EncodeToString(sum.Sum(nil))
	return b, nil
}

// newHash starts a hash of content, with mappings and the version of the made-up parts.
func newHash() hash.Hash {
	sum := sha256.New()
	for _, part := range [][]byte{CityMapping(), RegionMapping(), []byte(shapeVersion)} {
		sum.Write(part)
		sum.Write([]byte{0})
	}
	return sum
}

// readTSV calls row for every line that is neither empty nor a comment.
func readTSV(r io.Reader, columns int, row func(fields []string) error) error {
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		if line == "" || line[0] == '#' {
			continue
		}
		fields := strings.Split(line, "\t")
		if len(fields) != columns {
			return fmt.Errorf("line %d: %d columns: expected %d", n, len(fields), columns)
		}
		if err := row(fields); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	return lines.Err()
}

// parseCity reads id, country, region, latitude, longitude, time zone, population, featured, the
// common name, and then the name in each language in which it differs from the common name.
func parseCity(f []string) (City, error) {
	var errs []error
	num := func(s string) int64 {
		n, err := strconv.ParseInt(s, 10, 64)
		errs = append(errs, err)
		return n
	}
	deg := func(s string) float64 {
		d, err := strconv.ParseFloat(s, 64)
		errs = append(errs, err)
		return d
	}
	c := City{
		Region:   Region{ID: num(f[0]), CountryISO: f[1], Centroid: Point{deg(f[3]), deg(f[4])}, Name: Names(f[9:14])},
		RegionID: num(f[2]), Timezone: f[5], Population: num(f[6]), IsFeatured: f[7] == "1",
	}
	for i := range c.Name {
		if c.Name[i] == "" {
			c.Name[i] = f[8]
		}
	}
	return c, errors.Join(errs...)
}

// shapeRegions gives each region the mean of its cities as its centroid and the convex hull around
// their outskirts as its geometry. So the geometry contains all of the region's cities, but is not
// its boundary.
func (b *bundled) shapeRegions() error {
	s := newShaper(regionVertices)
	rng := rand.NewPCG(0, 0)
	around := make(map[int64][]Point, len(b.regions))
	for i := range b.cities {
		c := &b.cities[i]
		rng.Seed(shapeSeed, uint64(c.ID))
		around[c.RegionID] = s.ring(around[c.RegionID], c.Centroid, 1.5*radius(c.Population), rng)
	}
	for i := range b.regions {
		r := &b.regions[i]
		points := around[r.ID]
		if len(points) == 0 {
			return fmt.Errorf("region %d has no cities", r.ID)
		}
		for _, p := range points {
			r.Centroid.Lat += p.Lat / float64(len(points))
			r.Centroid.Lon += p.Lon / float64(len(points))
		}
		r.Geometry = hull(points)
		delete(around, r.ID)
	}
	for id := range around {
		return fmt.Errorf("region %d not found", id)
	}
	return nil
}

func (b *bundled) Info() bench.DataInfo {
	return bench.DataInfo{Name: "bundled", Size: size(len(b.cities), len(b.regions)), Hash: b.hash}
}

func (b *bundled) Indices() []Index { return b.indices(len(b.cities)) }

func (b *bundled) indices(cities int) []Index {
	return []Index{
		{Name: RegionIndex, Mapping: RegionMapping(), Count: int64(len(b.regions))},
		{Name: CityIndex, Mapping: CityMapping(), Count: int64(cities)},
	}
}

func (b *bundled) Documents(index string) iter.Seq2[Doc, error] {
	return b.documents(index, len(b.cities), cityVertices, b.city)
}

// Facts streams the documents of an index as Documents does, but cities without their outlines.
func (b *bundled) Facts(index string) iter.Seq2[Doc, error] {
	return b.documents(index, len(b.cities), 0, b.city)
}

func (b *bundled) city(c *City, i int, rng *rand.PCG) {
	*c = b.cities[i]
	rng.Seed(shapeSeed, uint64(c.ID))
}

// documents returns the documents of an index with n cities. city fills in the i-th and seeds the
// random numbers of its outline, which has the given number of vertices; with 0 there is none.
func (b *bundled) documents(
	index string, n, vertices int, city func(c *City, i int, rng *rand.PCG),
) iter.Seq2[Doc, error] {
	switch index {
	case CityIndex:
		return func(yield func(Doc, error) bool) {
			s, rng := newShaper(vertices), rand.NewPCG(0, 0)
			var c City
			var ring []Point
			var buf []byte
			for i := range n {
				city(&c, i, rng)
				if vertices > 0 {
					ring = s.ring(ring[:0], c.Centroid, radius(c.Population), rng)
				}
				c.Geometry = ring
				buf = c.AppendJSON(buf[:0])
				if !yield(Doc{ID: strconv.FormatInt(c.ID, 10), Source: buf}, nil) {
					return
				}
			}
		}
	case RegionIndex:
		return func(yield func(Doc, error) bool) {
			var buf []byte
			for _, r := range b.regions {
				buf = r.AppendJSON(buf[:0])
				if !yield(Doc{ID: strconv.FormatInt(r.ID, 10), Source: buf}, nil) {
					return
				}
			}
		}
	}
	return unknownIndex(index)
}

func (b *bundled) IDs(context.Context) ([]int64, error) {
	ids := make([]int64, len(b.cities))
	for i := range b.cities {
		ids[i] = b.cities[i].ID
	}
	return ids, nil
}

// hull returns the convex hull (Andrew's monotone chain), counter-clockwise. It reorders points.
func hull(points []Point) []Point {
	slices.SortFunc(points, func(a, b Point) int {
		return cmp.Or(cmp.Compare(a.Lon, b.Lon), cmp.Compare(a.Lat, b.Lat))
	})
	points = slices.Compact(points)
	var h []Point
	half := func(points iter.Seq2[int, Point]) {
		floor := len(h)
		for _, p := range points {
			for len(h) >= floor+2 && !leftTurn(h[len(h)-2], h[len(h)-1], p) {
				h = h[:len(h)-1]
			}
			h = append(h, p)
		}
		h = h[:len(h)-1]
	}
	half(slices.All(points))
	half(slices.Backward(points))
	return append(h, h[0])
}

func leftTurn(a, b, c Point) bool {
	return float64((b.Lon-a.Lon)*(c.Lat-a.Lat)) > float64((b.Lat-a.Lat)*(c.Lon-a.Lon))
}
