package embedded

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
)

// index is one index: its documents in the order of arrival, and the structures that find them. It
// does not change once it is built, so searches need no lock.
type index struct {
	name     string
	unread   error // a document whose fields queries cannot read; nil if there is none
	docs     []document
	byID     map[string]uint32
	all      []uint32
	featured []uint32
	grid     grid
	names    map[string]*field // by language; allNames has those in all languages
}

const allNames = "all"

// field holds the terms of the names in a language, as terms does.
type field [2][sizes]table

// table is the inverted index of the terms of one field.
type table struct {
	building map[string][]uint32 // the list of each term, while the index is built
	sorted   []string            // the terms of the built index; lists[i] belongs to sorted[i]
	// lists hold the ordinals of a term's documents, ascending, one for each occurrence.
	lists   [][]uint32
	lengths []uint8 // by ordinal: the number of terms, at most 255
	docs    int     // documents with at least one term
	total   int     // terms of all documents
}

func newIndex(name string, docs int64) *index {
	return &index{
		name: name, docs: make([]document, 0, docs), byID: make(map[string]uint32, docs),
		grid: grid{cells: map[cell][]uint32{}}, names: map[string]*field{},
	}
}

// add appends a document that was read.
func (ix *index) add(d *document) error {
	if _, exists := ix.byID[d.id]; exists {
		return fmt.Errorf("document %s: duplicate id", shorten(d.id))
	}
	ordinal := uint32(len(ix.docs))
	ix.byID[d.id], ix.all = ordinal, append(ix.all, ordinal)
	ix.unread = cmp.Or(ix.unread, d.unread)
	if d.featured {
		ix.featured = append(ix.featured, ordinal)
	}
	if d.shape != nil {
		ix.grid.add(ordinal, d.shape)
	}
	for _, n := range d.names {
		for _, language := range []string{n.language, allNames} {
			f := ix.names[language]
			if f == nil {
				f = &field{}
				ix.names[language] = f
			}
			for i := range n.terms {
				for size, list := range n.terms[i] {
					f[i][size].add(list, ordinal)
				}
			}
		}
	}
	d.names, d.unread = nil, nil
	ix.docs = append(ix.docs, *d)
	return nil
}

func (t *table) add(list []string, ordinal uint32) {
	if len(list) == 0 {
		return
	}
	if t.building == nil {
		t.building = map[string][]uint32{}
	}
	for _, term := range list {
		t.building[term] = append(t.building[term], ordinal)
	}
	t.total += len(list)
	if len(t.lengths) <= int(ordinal) {
		t.lengths = append(t.lengths, make([]uint8, int(ordinal)+1-len(t.lengths))...)
	}
	if t.lengths[ordinal] == 0 {
		t.docs++
	}
	t.lengths[ordinal] = uint8(min(int(t.lengths[ordinal])+len(list), math.MaxUint8))
}

// seal sorts the terms of all names for searching.
func (ix *index) seal() {
	var tables sync.WaitGroup
	for _, f := range ix.names {
		for i := range f {
			for size := range f[i] {
				tables.Go(f[i][size].seal)
			}
		}
	}
	tables.Wait()
}

// seal sorts the terms and packs their lists into one block.
func (t *table) seal() {
	size := 0
	for _, list := range t.building {
		size += len(list)
	}
	block := make([]uint32, 0, size)
	t.sorted = slices.Sorted(maps.Keys(t.building))
	t.lists = make([][]uint32, len(t.sorted))
	for i, term := range t.sorted {
		from := len(block)
		block = append(block, t.building[term]...)
		t.lists[i] = block[from:len(block):len(block)]
	}
	t.building = nil
}

// scores adds up the scores of documents during one search.
type scores struct {
	of    []float64 // by ordinal
	found []uint32  // the documents with a score
	seen  []uint8   // by ordinal: the last query of a prefix that found it
	query uint8
}

func (s *scores) add(doc uint32, score float64) {
	if s.of[doc] == 0 {
		s.found = append(s.found, doc)
	}
	s.of[doc] += score
}

// term scores a term by BM25, as Elasticsearch does.
func (t *table) term(term string, boost float64, s *scores) {
	i, ok := slices.BinarySearch(t.sorted, term)
	if !ok {
		return
	}
	const k, b = 1.2, 0.75
	list, docs := t.lists[i], len(slices.Compact(slices.Clone(t.lists[i])))
	weight := boost * (k + 1) * math.Log(1+(float64(t.docs-docs)+0.5)/(float64(docs)+0.5))
	average := float64(t.total) / float64(t.docs)
	for from := 0; from < len(list); {
		doc, to := list[from], from+1
		for to < len(list) && list[to] == doc {
			to++
		}
		count := float64(to - from)
		s.add(doc, weight*count/(count+k*(1-b+b*float64(t.lengths[doc])/average)))
		from = to
	}
}

// prefix adds the boost to the documents with a term that begins like this.
func (t *table) prefix(prefix string, boost float64, s *scores) {
	s.query++
	from, _ := slices.BinarySearch(t.sorted, prefix)
	for i := from; i < len(t.sorted) && strings.HasPrefix(t.sorted[i], prefix); i++ {
		for _, doc := range t.lists[i] {
			if s.seen[doc] != s.query {
				s.seen[doc] = s.query
				s.add(doc, boost)
			}
		}
	}
}
