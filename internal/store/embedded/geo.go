package embedded

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

type point struct{ lon, lat float64 }

func (p point) check() error {
	if !(math.Abs(p.lat) <= 90 && math.Abs(p.lon) <= 180) { // NaN is out of range, too
		return fmt.Errorf("latitude %v, longitude %v: expected at most 90 and 180", p.lat, p.lon)
	}
	return nil
}

// vector is a point on the unit sphere. The squared chord between two vectors orders points as
// their distance does, with three products instead of two cosines.
type vector [3]float64

func vectorOf(p point) vector {
	const rad = math.Pi / 180
	sinLat, cosLat := math.Sincos(p.lat * rad)
	sinLon, cosLon := math.Sincos(p.lon * rad)
	return vector{cosLat * cosLon, cosLat * sinLon, sinLat}
}

func (v *vector) chord2(w *vector) float64 {
	dx, dy, dz := v[0]-w[0], v[1]-w[1], v[2]-w[2]
	return dx*dx + dy*dy + dz*dz
}

// shape is a point, a polygon or several polygons: the rings of all of them, and the box around
// them.
type shape struct {
	min, max point
	rings    [][]point
}

// contains counts the edges to the east of p. Edges are straight lines on the map, and a point on
// an edge is inside, as in Elasticsearch.
func (s *shape) contains(p point) bool {
	if p.lon < s.min.lon || p.lon > s.max.lon || p.lat < s.min.lat || p.lat > s.max.lat {
		return false
	}
	inside := len(s.rings[0]) == 1 // a point, which is its own box
	for _, ring := range s.rings {
		for i := 1; i < len(ring); i++ {
			a, b := ring[i-1], ring[i]
			crosses := (a.lat > p.lat) != (b.lat > p.lat)
			if !crosses && a.lat != p.lat && b.lat != p.lat {
				continue
			}
			// The conversions prevent fused operations: side must be exactly 0 at both ends.
			side := float64((b.lon-a.lon)*(p.lat-a.lat)) - float64((b.lat-a.lat)*(p.lon-a.lon))
			if side == 0 && between(a.lon, p.lon, b.lon) && between(a.lat, p.lat, b.lat) {
				return true
			}
			if crosses && (side > 0) == (b.lat > a.lat) {
				inside = !inside
			}
		}
	}
	return inside
}

func between(a, v, b float64) bool { return (a <= v && v <= b) || (b <= v && v <= a) }

// parseShape reads a GeoJSON geometry.
func parseShape(b []byte) (*shape, error) {
	var kind string
	var coordinates []byte
	for key, value := range members(b) {
		switch string(key) {
		case `"type"`:
			kind = strings.ToLower(strings.Trim(string(value), `"`))
		case `"coordinates"`:
			coordinates = value
		}
	}
	if !slices.Contains([]string{"point", "polygon", "multipolygon"}, kind) {
		return nil, fmt.Errorf("%q: expected a GeoJSON Point, Polygon or MultiPolygon", shorten(kind))
	}
	s := &shape{min: point{math.Inf(1), math.Inf(1)}, max: point{math.Inf(-1), math.Inf(-1)}}
	if err := s.read(coordinates); err != nil {
		return nil, err
	}
	for _, ring := range s.rings {
		closed := len(ring) >= 4 && ring[0] == ring[len(ring)-1]
		if closed == (kind == "point") {
			return nil, errors.New("a ring needs at least four positions, the last equal to the first")
		}
	}
	switch {
	case len(s.rings) == 0 || kind == "point" && (len(s.rings) > 1 || len(s.rings[0]) > 1):
		return nil, errors.New("unexpected number of coordinates")
	case s.max.lon-s.min.lon > 180:
		return nil, errors.New("a polygon across the date line or wider than 180 degrees")
	}
	return s, nil
}

// read reads positions, [lon, lat] or [lon, lat, height], in arrays of any depth. What is between
// the brackets around positions is a ring.
func (s *shape) read(b []byte) (err error) {
	var room [128]point // on the stack, for rings of usual length
	ring := room[:0]
	var position [3]float64
	n := 0
	end := func() {
		if len(ring) > 0 {
			s.rings = append(s.rings, slices.Clone(ring))
			ring = ring[:0]
		}
	}
	for i := 0; i < len(b); {
		switch b[i] {
		case '[', ',', ' ', '\n', '\t', '\r':
			i++
		case ']':
			i++
			if n == 0 {
				end()
				continue
			}
			p := point{position[0], position[1]}
			if n < 2 {
				return errors.New("a position needs longitude and latitude")
			}
			if err := p.check(); err != nil {
				return err
			}
			ring, n = append(ring, p), 0
			s.min = point{min(s.min.lon, p.lon), min(s.min.lat, p.lat)}
			s.max = point{max(s.max.lon, p.lon), max(s.max.lat, p.lat)}
		default:
			if n == len(position) {
				return errors.New("a position has too many numbers")
			}
			if position[n], i, err = number(b, i); err != nil {
				return err
			}
			n++
		}
	}
	end()
	return nil
}

// grid finds the shapes whose boxes contain a point, without checking all of them.
type grid struct {
	cells map[cell][]uint32 // documents of each cell
	wide  []uint32          // documents whose shapes cover too many cells
}

// cell is 0.2° by 0.1°.
type cell struct{ x, y int16 }

const cellsPerShape = 64

func cellOf(p point) cell { return cell{int16(math.Floor(p.lon * 5)), int16(math.Floor(p.lat * 10))} }

func (g *grid) add(doc uint32, s *shape) {
	from, to := cellOf(s.min), cellOf(s.max)
	if (int(to.x-from.x)+1)*(int(to.y-from.y)+1) > cellsPerShape {
		g.wide = append(g.wide, doc)
		return
	}
	for x := from.x; x <= to.x; x++ {
		for y := from.y; y <= to.y; y++ {
			g.cells[cell{x, y}] = append(g.cells[cell{x, y}], doc)
		}
	}
}

// candidates are the documents whose shapes may contain p, each once.
func (g *grid) candidates(p point) []uint32 { return slices.Concat(g.cells[cellOf(p)], g.wide) }
