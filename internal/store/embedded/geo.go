package embedded

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Lucene keeps coordinates as 32-bit integers (about 1 cm). With others, edges would differ.
const (
	latitudeStep  = 180.0 / (1 << 32)
	longitudeStep = 360.0 / (1 << 32)
)

// place is a point in Lucene's encoding.
type place struct{ x, y int32 } // longitude, latitude

func encodePlace(lat, lon float64) (place, error) {
	switch { // NaN is out of range, too
	case !(lat >= -90 && lat <= 90):
		return place{}, fmt.Errorf("latitude %v is out of range", lat)
	case !(lon >= -180 && lon <= 180):
		return place{}, fmt.Errorf("longitude %v is out of range", lon)
	}
	return place{encodeStep(lon, 180, longitudeStep), encodeStep(lat, 90, latitudeStep)}, nil
}

func encodeStep(v, most, step float64) int32 {
	if v == most {
		v = math.Nextafter(v, 0) // the largest value would overflow
	}
	return int32(math.Floor(v / step))
}

func (p place) lat() float64 { return float64(p.y) * latitudeStep }
func (p place) lon() float64 { return float64(p.x) * longitudeStep }

// distanceKey orders points by distance as Lucene's sort does: the haversine less three bits.
func distanceKey(lat, lon float64, p place) float64 {
	const rad = math.Pi / 180
	x1, x2 := lat*rad, p.lat()*rad
	h1 := 1 - math.Cos(x1-x2)
	h2 := 1 - math.Cos((lon-p.lon())*rad)
	h := h1 + math.Cos(x1)*math.Cos(x2)*h2
	return math.Float64frombits(math.Float64bits(h) &^ 7)
}

// earthDiameter is the diameter, in meters, of the sphere that Lucene measures on.
const earthDiameter = 2 * 6_371_008.7714

func distanceMeters(key float64) float64 {
	return earthDiameter * math.Asin(math.Min(1, math.Sqrt(key*0.5)))
}

// polygon is one outer ring and its holes, as closed rings of places.
type polygon struct {
	minX, maxX, minY, maxY int32
	rings                  [][]place
}

// shape is a geometry: points and polygons.
type shape struct {
	points   []place
	polygons []polygon
}

func (s *shape) contains(p place) bool {
	return slices.Contains(s.points, p) ||
		slices.ContainsFunc(s.polygons, func(g polygon) bool { return g.contains(p) })
}

// contains counts the edges to the east of p. A point on an edge is inside, as in Lucene.
func (g *polygon) contains(p place) bool {
	if p.x < g.minX || p.x > g.maxX || p.y < g.minY || p.y > g.maxY {
		return false
	}
	inside := false
	for _, ring := range g.rings {
		for i := 1; i < len(ring); i++ {
			a, b := ring[i-1], ring[i]
			if (a.y > p.y) == (b.y > p.y) && a.y != p.y && b.y != p.y {
				continue
			}
			side := cross(a, b, p)
			if side == 0 && between(a.x, p.x, b.x) && between(a.y, p.y, b.y) {
				return true
			}
			if (a.y > p.y) != (b.y > p.y) && (side > 0) == (b.y > a.y) {
				inside = !inside
			}
		}
	}
	return inside
}

func between(a, v, b int32) bool { return (a <= v && v <= b) || (b <= v && v <= a) }

// cross returns a positive number if p is to the left of the line from a to b, and 0 if p is on it.
func cross(a, b, p place) int {
	const exact = math.MaxInt32 / 2 // products of differences below it fit into 64 bits
	dx, dy := int64(b.x)-int64(a.x), int64(b.y)-int64(a.y)
	px, py := int64(p.x)-int64(a.x), int64(p.y)-int64(a.y)
	if max(abs(dx), abs(dy), abs(px), abs(py)) > exact {
		return cmp.Compare(float64(dx)*float64(py)-float64(dy)*float64(px), 0)
	}
	return cmp.Compare(dx*py-dy*px, 0)
}

func abs(v int64) int64 { return max(v, -v) }

// parsePosition reads [lon, lat], or [lon, lat, height].
func parsePosition(doc []byte, i int) (p place, end int, err error) {
	var c [3]float64
	n := 0
	end, err = elements(doc, i, "a position must be an array of longitude and latitude", func(i int) (end int, err error) {
		if n == len(c) {
			return i, errors.New("a position has too many numbers")
		}
		c[n], end, err = number(doc, i)
		n++
		return end, err
	})
	if err == nil && n < 2 {
		err = errors.New("a position needs longitude and latitude")
	}
	if err == nil {
		p, err = encodePlace(c[1], c[0])
	}
	return p, end, err
}

func parsePolygon(doc []byte, i int) (g polygon, end int, err error) {
	g = polygon{minX: math.MaxInt32, minY: math.MaxInt32, maxX: math.MinInt32, maxY: math.MinInt32}
	var room [128]place // on the stack, for rings of usual length
	all := room[:0]
	end, err = elements(doc, i, "a polygon must be an array of rings", func(i int) (end int, err error) {
		all = all[:0]
		end, err = elements(doc, i, "a ring must be an array of positions", func(i int) (int, error) {
			p, end, err := parsePosition(doc, i)
			all = append(all, p)
			g.minX, g.maxX = min(g.minX, p.x), max(g.maxX, p.x)
			g.minY, g.maxY = min(g.minY, p.y), max(g.maxY, p.y)
			return end, err
		})
		if err == nil && (len(all) < 4 || all[0] != all[len(all)-1]) {
			err = errors.New("a ring needs at least four positions, the last equal to the first")
		}
		g.rings = append(g.rings, slices.Clone(all))
		return end, err
	})
	switch {
	case err != nil:
	case len(g.rings) == 0:
		err = errors.New("a polygon needs a ring")
	case int64(g.maxX)-int64(g.minX) > 1<<31:
		err = errors.New("a polygon across the date line or wider than 180 degrees is not supported by the embedded store")
	}
	return g, end, err
}

// parseShape reads a GeoJSON geometry: points and polygons, single or multi.
func parseShape(doc []byte, v span) (*shape, error) {
	if doc[v.start] != '{' {
		return nil, errors.New("only GeoJSON shapes are supported by the embedded store")
	}
	var typ string
	at := 0
	for key, value := range members(doc, v.start) {
		switch string(key.of(doc)) {
		case "type":
			typ = strings.ToLower(strings.Trim(string(value.of(doc)), `"`))
		case "coordinates":
			at = value.start
		}
	}
	if at == 0 {
		return nil, errors.New("a geometry without coordinates")
	}
	s := &shape{}
	add := func(i int) (int, error) {
		p, end, err := parsePosition(doc, i)
		s.points = append(s.points, p)
		return end, err
	}
	if strings.HasSuffix(typ, "polygon") {
		add = func(i int) (int, error) {
			g, end, err := parsePolygon(doc, i)
			s.polygons = append(s.polygons, g)
			return end, err
		}
	}
	var err error
	switch typ {
	case "point", "polygon":
		_, err = add(at)
	case "multipoint", "multipolygon":
		_, err = elements(doc, at, "coordinates must be an array", add)
	default:
		err = errors.New("shapes of type " + shorten(typ) + " are not supported by the embedded store")
	}
	return s, err
}

// grid finds the shapes whose bounding boxes contain a point, without checking all of them.
type grid struct {
	cells map[uint32][]uint32 // documents of each cell, in order
	wide  []uint32            // documents whose shapes cover too many cells
}

const (
	cellBits     = 21 // a cell is 0.18° by 0.09°
	cellsPerPart = 64
)

func cellOf(x, y int32) uint32 { return uint32(x>>cellBits+1<<10)<<11 | uint32(y>>cellBits+1<<10) }

func (g *grid) add(doc uint32, s *shape) {
	if g.cells == nil {
		g.cells = map[uint32][]uint32{}
	}
	put := func(cell uint32) {
		if list := g.cells[cell]; len(list) == 0 || list[len(list)-1] != doc {
			g.cells[cell] = append(list, doc)
		}
	}
	for i := range s.polygons {
		b := &s.polygons[i]
		nx, ny := b.maxX>>cellBits-b.minX>>cellBits+1, b.maxY>>cellBits-b.minY>>cellBits+1
		if int64(nx)*int64(ny) > cellsPerPart {
			g.wide = append(g.wide, doc)
			return
		}
		for x := b.minX >> cellBits; x <= b.maxX>>cellBits; x++ {
			for y := b.minY >> cellBits; y <= b.maxY>>cellBits; y++ {
				put(cellOf(x<<cellBits, y<<cellBits))
			}
		}
	}
	for _, p := range s.points {
		put(cellOf(p.x, p.y))
	}
}

// candidates calls f with the documents whose shapes may contain p, unordered, some of them twice.
func (g *grid) candidates(p place, f func(doc uint32)) {
	for _, list := range [][]uint32{g.cells[cellOf(p.x, p.y)], g.wide} {
		for _, d := range list {
			f(d)
		}
	}
}
