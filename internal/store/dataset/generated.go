package dataset

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"

	"github.com/locbench/locbench/internal/bench"
)

// Bounds of a generated set.
const (
	MaxGenerated    = 1_000_000
	MaxVertices     = 10_000
	defaultVertices = 60
	minVertices     = 12 // fewer cannot follow the waves of the outline
)

// firstGeneratedID is above all ids of GeoNames and, plus MaxGenerated, still a 32-bit integer.
const firstGeneratedID = 100_000_001

type generated struct {
	*bundled
	featured []City
	n        int
	vertices int
	seed     uint64
	hash     string
}

// Generated returns a set of cities, each a polygon with the given number of vertices (0: 60). The
// same three numbers make the same set on every machine. It has the bundled regions and starts with
// the bundled featured cities; all others are made up, near real ones. No city is kept in memory.
func Generated(cities, vertices int, seed uint64) (Set, error) {
	vertices = cmp.Or(vertices, defaultVertices)
	if cities < 1 || cities > MaxGenerated {
		return nil, fmt.Errorf("generated data set: %d cities: expected 1 to %d", cities, MaxGenerated)
	}
	if vertices < minVertices || vertices > MaxVertices {
		return nil, fmt.Errorf("generated data set: %d vertices: expected %d to %d", vertices, minVertices, MaxVertices)
	}
	real, err := loadBundled()
	if err != nil {
		return nil, err
	}
	g := &generated{bundled: real, n: cities, vertices: vertices, seed: seed}
	for _, c := range real.cities {
		if c.IsFeatured && len(g.featured) < cities {
			g.featured = append(g.featured, c)
		}
	}
	sum := newHash()
	fmt.Fprintf(sum, "generated 1\n%s\n%d %d %d", real.hash, cities, vertices, seed)
	g.hash = hex.EncodeToString(sum.Sum(nil))
	return g, nil
}

func (g *generated) Info() bench.DataInfo {
	return bench.DataInfo{
		Name: fmt.Sprintf("generated %d × %d, seed %d", g.n, g.vertices, g.seed),
		Size: size(g.n, len(g.regions)), Hash: g.hash,
	}
}

func (g *generated) Indices() []Index { return g.indices(g.n) }

func (g *generated) Documents(index string) iter.Seq2[Doc, error] {
	return g.documents(index, g.n, g.vertices, g.city)
}

func (g *generated) Facts(index string) iter.Seq2[Doc, error] {
	return g.documents(index, g.n, 0, g.city)
}

func (g *generated) city(c *City, i int, rng *rand.PCG) {
	rng.Seed(g.seed, uint64(i))
	if i < len(g.featured) {
		*c = g.featured[i]
	} else {
		g.invent(c, i, rng)
	}
}

// Parts of made-up names, with diacritics that matter to a search. Endings are one per language.
var (
	onsets = [...]string{
		"Br", "Čer", "Dol", "Hra", "Hor", "Jab", "Kam", "Kra", "Lip", "Łom", "Mü",
		"Nov", "Ost", "Pol", "Ře", "Schön", "Stein", "Šum", "Tře", "Wal", "Žel", "Zbo",
	}
	middles = [...]string{"a", "en", "í", "ko", "lo", "má", "ni", "ova", "ra", "sta", "ší", "ve", "ów", "zdí"}
	endings = [...]Names{
		{"ov", "au", "ov", "ów", "ov"},
		{"ice", "itz", "ice", "ice", "ice"},
		{"hrad", "burg", "burg", "gród", "hrad"},
		{"ín", "in", "in", "in", "ín"},
		{"město", "stadt", "town", "miasto", "mesto"},
		{"ves", "dorf", "ville", "wieś", "ves"},
	}
)

// invent makes up city number i within about 20 km of a real one, in its country and region.
func (g *generated) invent(c *City, i int, rng *rand.PCG) {
	pick := func(n int) int { return int(rng.Uint64() % uint64(n)) } // the bias is below 2⁻⁵⁰
	near := &g.cities[pick(len(g.cities))]
	stem := onsets[pick(len(onsets))] + middles[pick(len(middles))] + middles[pick(len(middles))]
	ending := &endings[pick(len(endings))]
	*c = City{
		Region: Region{
			ID: firstGeneratedID + int64(i), CountryISO: near.CountryISO,
			Centroid: Point{near.Centroid.Lat + 0.3*(unit(rng)-0.5), near.Centroid.Lon + 0.4*(unit(rng)-0.5)},
		},
		RegionID: near.RegionID, Timezone: near.Timezone,
		// A Pareto tail like that of real cities: half under 1,100 people, one in 1,000 about a
		// million.
		Population: int64(min(500/math.Pow(1-unit(rng), 1.1), 3e6)),
	}
	for l := range c.Name {
		c.Name[l] = stem + ending[l]
	}
}

func (g *generated) IDs(ctx context.Context) ([]int64, error) {
	ids := make([]int64, g.n)
	for i := range ids {
		if i < len(g.featured) {
			ids[i] = g.featured[i].ID
		} else {
			ids[i] = firstGeneratedID + int64(i)
		}
	}
	return ids, ctx.Err()
}
