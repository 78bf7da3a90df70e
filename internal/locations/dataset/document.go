package dataset

import (
	"math"
	"strconv"
	"unicode/utf8"
)

// AppendJSON appends the document to b, on one line and without a line feed.
func (c *City) AppendJSON(b []byte) []byte {
	b = appendPlace(b, c.ID, c.CountryISO, c.Centroid, &c.Name)
	b = append(b, `,"regionId":`...)
	b = strconv.AppendInt(b, c.RegionID, 10)
	b = append(b, `,"isFeatured":`...)
	b = strconv.AppendBool(b, c.IsFeatured)
	b = append(b, `,"timezone":`...)
	b = appendString(b, c.Timezone)
	b = append(b, `,"population":`...)
	b = strconv.AppendInt(b, c.Population, 10)
	b = appendPolygon(b, c.Geometry)
	return append(b, '}')
}

// AppendJSON appends the document to b, on one line and without a line feed.
func (r *Region) AppendJSON(b []byte) []byte {
	b = appendPlace(b, r.ID, r.CountryISO, r.Centroid, &r.Name)
	b = appendPolygon(b, r.Geometry)
	return append(b, '}')
}

// appendPlace appends what cities and regions share, up to and without the geometry.
func appendPlace(b []byte, id int64, country string, centroid Point, names *Names) []byte {
	b = append(b, `{"id":`...)
	b = strconv.AppendInt(b, id, 10)
	b = append(b, `,"countryIso":`...)
	b = appendString(b, country)
	b = append(b, `,"centroid":{"lat":`...)
	b = appendDegrees(b, centroid.Lat)
	b = append(b, `,"lon":`...)
	b = appendDegrees(b, centroid.Lon)
	b = append(b, '}')
	for i, name := range names {
		b = append(b, `,"name.`...)
		b = append(b, Languages[i]...)
		b = append(b, `":`...)
		b = appendString(b, name)
	}
	return b
}

// appendPolygon appends ring as a GeoJSON polygon: longitude first.
func appendPolygon(b []byte, ring []Point) []byte {
	b = append(b, `,"geometry":{"type":"Polygon","coordinates":[[`...)
	for i, p := range ring {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '[')
		b = appendDegrees(b, p.Lon)
		b = append(b, ',')
		b = appendDegrees(b, p.Lat)
		b = append(b, ']')
	}
	return append(b, `]]}`...)
}

// appendDegrees appends d rounded to six decimals (about 0.1 m) without trailing zeros. It is
// several times as fast as strconv.AppendFloat, and coordinates are nearly all that a document
// consists of.
func appendDegrees(b []byte, d float64) []byte {
	micro := int64(math.Round(d * 1e6))
	if micro < 0 {
		b = append(b, '-')
		micro = -micro
	}
	b = strconv.AppendInt(b, micro/1e6, 10)
	frac := micro % 1e6
	if frac == 0 {
		return b
	}
	b = append(b, ".000000"...)
	for i := len(b) - 1; frac > 0; i-- {
		b[i] = byte('0' + frac%10)
		frac /= 10
	}
	for b[len(b)-1] == '0' {
		b = b[:len(b)-1]
	}
	return b
}

// appendString appends s as a JSON string; bytes that are no UTF-8 become U+FFFD.
func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r < 0x20 || r == 0x7f:
			b = append(b, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}
