package embedded

import (
	"slices"
	"sync"
)

// index is one index: its documents in the order in which they came, and what finds them. Once it
// is built it does not change, so that searches need no lock.
type index struct {
	name    string // with its version, as hits report it
	mapping *mapping
	docs    []stored
	byID    map[string]uint32
	terms   map[string]*terms // by the name of the field, with shingleSuffix
	columns map[*field]*column
}

type stored struct {
	id      string
	source  []byte
	members []member // of the source's top level, so that answers by id need not look for them
}

// member is one key and value, from the key's quote to the value's end: source[start:end].
type member struct{ start, end uint32 }

// terms is the inverted index of one field.
type terms struct {
	ids    map[string]uint32 // while the index is built: term → its number, that of its list
	ranks  []uint32          // while it is sealed: number → place in sorted
	sorted []string          // afterwards; the list of sorted[i] is lists[i]
	// lists hold the ordinals of the documents of a term, ascending, as often as it stands there.
	lists   [][]uint32
	lengths []byte // by ordinal: the number of terms, as Lucene encodes it; nil of keywords
	docs    int64  // that have a term
	total   int64  // terms of all documents, repeated ones included
}

// column holds the values of one field by ordinal, for sorting and for shapes. Of several values of
// a document the first is kept, and all shapes are.
type column struct {
	has      []bool
	longs    []int64
	keywords []uint32 // numbers of terms
	places   []place
	vectors  []vector // of places
	shapes   []*shape
	grid     grid
}

func newIndex(name string, m *mapping, docs int64) *index {
	return &index{
		name: name, mapping: m, docs: make([]stored, 0, docs), byID: make(map[string]uint32, docs),
		terms: map[string]*terms{}, columns: map[*field]*column{},
	}
}

// add appends a document; false if there is one with its id.
func (ix *index) add(d *parsed) bool {
	if _, exists := ix.byID[d.id]; exists {
		return false
	}
	ordinal := uint32(len(ix.docs))
	ix.docs = append(ix.docs, d.stored)
	ix.byID[d.id] = ordinal
	for _, g := range d.grams {
		t := ix.termsOf(g.name)
		for _, term := range g.terms {
			t.add(term, ordinal)
		}
		t.lengths = set(t.lengths, ordinal, encodeLength(len(g.terms)))
		t.docs++
		t.total += int64(len(g.terms))
	}
	ix.addKeywords(d, ordinal)
	for _, v := range d.longs {
		if c, first := ix.column(v.field, ordinal); first {
			c.longs = set(c.longs, ordinal, v.of)
		}
	}
	for _, v := range d.points {
		if c, first := ix.column(v.field, ordinal); first {
			c.places = set(c.places, ordinal, v.of)
			c.vectors = set(c.vectors, ordinal, vectorOf(v.of.lat(), v.of.lon()))
		}
	}
	for _, v := range d.shapes {
		c, first := ix.column(v.field, ordinal)
		if !first { // several shapes of a field are one
			before := c.shapes[ordinal]
			v.of = &shape{append(before.points, v.of.points...), append(before.polygons, v.of.polygons...)}
		}
		c.shapes = set(c.shapes, ordinal, v.of)
		c.grid.add(ordinal, v.of)
	}
	return true
}

func (ix *index) addKeywords(d *parsed, ordinal uint32) {
	for i, v := range d.keywords {
		t := ix.termsOf(v.field.path)
		if slices.Contains(d.keywords[:i], v) {
			continue // a field has each of its keywords once
		}
		id := t.add(v.of, ordinal)
		if c, first := ix.column(v.field, ordinal); first {
			c.keywords = set(c.keywords, ordinal, id)
			t.docs++
		}
		t.total++
	}
}

func (ix *index) termsOf(name string) *terms {
	t := ix.terms[name]
	if t == nil {
		t = &terms{ids: map[string]uint32{}}
		ix.terms[name] = t
	}
	return t
}

// column is that of a field, where the document now has a value, and whether it had none before.
func (ix *index) column(f *field, ordinal uint32) (c *column, first bool) {
	c = ix.columns[f]
	if c == nil {
		c = &column{}
		ix.columns[f] = c
	}
	first = !c.present(ordinal)
	c.has = set(c.has, ordinal, true)
	return c, first
}

func (c *column) present(ordinal uint32) bool {
	return c != nil && int(ordinal) < len(c.has) && c.has[ordinal]
}

// set makes s long enough to hold i, and v its element there.
func set[T any](s []T, i uint32, v T) []T {
	s = append(s, make([]T, max(0, int(i)+1-len(s)))...)
	s[i] = v
	return s
}

// seal sorts the terms: what was built is what searches look at.
func (ix *index) seal() {
	ix.docs = slices.Clip(ix.docs)
	var fields sync.WaitGroup
	for _, t := range ix.terms {
		fields.Go(t.seal)
	}
	fields.Wait()
	for f, c := range ix.columns {
		for i, id := range c.keywords {
			c.keywords[i] = ix.terms[f.path].ranks[id]
		}
	}
	for _, t := range ix.terms {
		t.ranks = nil
	}
}

func (t *terms) add(term string, ordinal uint32) (id uint32) {
	id, ok := t.ids[term]
	if !ok {
		id = uint32(len(t.lists))
		t.ids[term] = id
		t.lists = append(t.lists, nil)
	}
	t.lists[id] = append(t.lists[id], ordinal)
	return id
}

// seal sorts the terms and packs their lists into one block.
func (t *terms) seal() {
	size := 0
	for _, list := range t.lists {
		size += len(list)
	}
	block := make([]uint32, 0, size)
	t.ranks = make([]uint32, len(t.lists))
	lists := make([][]uint32, len(t.lists))
	t.sorted = make([]string, 0, len(t.ids))
	for term := range t.ids {
		t.sorted = append(t.sorted, term)
	}
	slices.Sort(t.sorted)
	for rank, term := range t.sorted {
		id := t.ids[term]
		from := len(block)
		block = append(block, t.lists[id]...)
		t.ranks[id], lists[rank], t.lists[id] = uint32(rank), block[from:len(block):len(block)], nil
	}
	t.lists, t.ids, t.lengths = lists, nil, slices.Clip(t.lengths)
}

// find returns the documents of a term; none of a field that no document has.
func (t *terms) find(term string) []uint32 {
	if t == nil {
		return nil
	}
	i, ok := slices.BinarySearch(t.sorted, term)
	if !ok {
		return nil
	}
	return t.lists[i]
}
