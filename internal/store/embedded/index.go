package embedded

import (
	"maps"
	"slices"
	"sync"
)

// index is one index: its documents in the order of arrival, and the structures that find them. It
// does not change once it is built, so searches need no lock.
type index struct {
	name    string // with the version, as in hits
	mapping *mapping
	docs    []stored
	byID    map[string]uint32
	terms   map[string]*terms // by field name, with shingleSuffix
	columns map[*field]*column
}

type stored struct {
	id      string
	source  []byte
	members []member // top level of the source, so a response by id need not search for them
}

// member is one key and its value, from the key's quote to the value's end: source[start:end].
type member struct{ start, end uint32 }

// terms is the inverted index of one field.
type terms struct {
	building map[string]*[]uint32 // the list of each term, while the index is built
	sorted   []string             // the terms of the built index; lists[i] belongs to sorted[i]
	// lists hold the ordinals of a term's documents, ascending, one for each occurrence.
	lists   [][]uint32
	lengths []byte // by ordinal: the number of terms in Lucene's encoding; nil for keywords
	docs    int64  // documents with at least one term
	total   int64  // terms of all documents, including repeated ones
}

// column holds the values of one field by ordinal, for sorting and for shapes.
type column struct {
	has      []bool
	several  bool // a document has more than one value; the last one is kept
	longs    []int64
	negative bool // one of longs is negative
	keywords []string
	places   []place
	vectors  []vector // places as vectors
	shapes   []*shape
	grid     grid
}

func newIndex(name string, m *mapping, docs int64) *index {
	return &index{
		name: name, mapping: m, docs: make([]stored, 0, docs), byID: make(map[string]uint32, docs),
		terms: map[string]*terms{}, columns: map[*field]*column{},
	}
}

// add appends a document. It returns false if a document with the same id exists.
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
	for i, v := range d.keywords {
		if slices.Contains(d.keywords[:i], v) {
			continue // a keyword counts once per field
		}
		t := ix.termsOf(v.field.path)
		t.add(v.of, ordinal)
		t.total++
		c, first := ix.column(v.field, ordinal)
		c.keywords = set(c.keywords, ordinal, v.of)
		if first {
			t.docs++
		}
	}
	for _, v := range d.longs {
		c, _ := ix.column(v.field, ordinal)
		c.longs, c.negative = set(c.longs, ordinal, v.of), c.negative || v.of < 0
	}
	for _, v := range d.points {
		c, _ := ix.column(v.field, ordinal)
		c.places = set(c.places, ordinal, v.of)
		c.vectors = set(c.vectors, ordinal, vectorOf(v.of.lat(), v.of.lon()))
	}
	for _, v := range d.shapes {
		c, _ := ix.column(v.field, ordinal)
		c.shapes = set(c.shapes, ordinal, v.of)
		c.grid.add(ordinal, v.of)
	}
	return true
}

func (ix *index) termsOf(name string) *terms {
	t := ix.terms[name]
	if t == nil {
		t = &terms{building: map[string]*[]uint32{}}
		ix.terms[name] = t
	}
	return t
}

// column returns a field's column, where the document now has a value, and whether it had none.
func (ix *index) column(f *field, ordinal uint32) (c *column, first bool) {
	c = ix.columns[f]
	if c == nil {
		c = &column{}
		ix.columns[f] = c
	}
	first = !c.present(ordinal)
	c.several = c.several || !first
	c.has = set(c.has, ordinal, true)
	return c, first
}

func (c *column) present(ordinal uint32) bool {
	return c != nil && int(ordinal) < len(c.has) && c.has[ordinal]
}

// set extends s to hold index i and stores v there.
func set[T any](s []T, i uint32, v T) []T {
	s = append(s, make([]T, max(0, int(i)+1-len(s)))...)
	s[i] = v
	return s
}

// seal sorts the terms of all fields for searching.
func (ix *index) seal() {
	ix.docs = slices.Clip(ix.docs)
	var fields sync.WaitGroup
	for _, t := range ix.terms {
		fields.Go(t.seal)
	}
	fields.Wait()
}

func (t *terms) add(term string, ordinal uint32) {
	list := t.building[term]
	if list == nil {
		list = new([]uint32)
		t.building[term] = list
	}
	*list = append(*list, ordinal)
}

// seal sorts the terms and packs their lists into one block.
func (t *terms) seal() {
	size := 0
	for _, list := range t.building {
		size += len(*list)
	}
	block := make([]uint32, 0, size)
	t.sorted = slices.Sorted(maps.Keys(t.building))
	t.lists = make([][]uint32, len(t.sorted))
	for i, term := range t.sorted {
		from := len(block)
		block = append(block, *t.building[term]...)
		t.lists[i] = block[from:len(block):len(block)]
	}
	t.building, t.lengths = nil, slices.Clip(t.lengths)
}

// find returns the documents of a term; none if no document has the field.
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
