package embedded

import (
	"cmp"
	"math"
	"slices"
)

// find returns the ordinals of the first documents that a query finds, in its order. Equal ones are
// in the order of arrival.
func (ix *index) find(q *query) []uint32 {
	best := top{size: q.size}
	switch {
	case q.language != "":
		found := ix.named(q)
		for _, doc := range found.found {
			if d := &ix.docs[doc]; q.accepts(d) {
				best.add(doc, -found.of[doc]*d.weight)
			}
		}
	case q.byCountry:
		found := slices.DeleteFunc(slices.Clone(ix.candidates(q)), func(doc uint32) bool { return !q.accepts(&ix.docs[doc]) })
		slices.SortStableFunc(found, func(a, b uint32) int {
			x, y := &ix.docs[a], &ix.docs[b]
			return cmp.Or(cmp.Compare(x.country, y.country), cmp.Compare(y.population, x.population))
		})
		return found[:min(len(found), q.size)]
	default:
		var from vector
		if q.near != nil {
			from = vectorOf(*q.near)
		}
		for _, doc := range ix.candidates(q) {
			d := &ix.docs[doc]
			if !q.accepts(d) {
				continue
			}
			rank := 0.0
			if q.near != nil {
				rank = math.Inf(1)
				if d.located {
					rank = d.centroid.chord2(&from)
				}
			}
			best.add(doc, rank)
		}
	}
	docs := make([]uint32, len(best.hits))
	for i, h := range best.hits {
		docs[i] = h.doc
	}
	return docs
}

// candidates are a part of the documents that has all that a query accepts.
func (ix *index) candidates(q *query) []uint32 {
	switch {
	case q.at != nil:
		return ix.grid.candidates(*q.at)
	case q.featured:
		return ix.featured
	}
	return ix.all
}

func (q *query) accepts(d *document) bool {
	return (!q.featured || d.featured) && (q.country == "" || q.country == d.country) &&
		(q.at == nil || d.shape.contains(*q.at))
}

// named scores documents by their names: the exact spelling in the language counts most, then the
// same without diacritics, then names in all languages. The last word may be the beginning of one.
func (ix *index) named(q *query) *scores {
	s := &scores{of: make([]float64, len(ix.docs)), seen: make([]uint8, len(ix.docs))}
	all, open := termsOf(q.text)
	for i, language := range []string{q.language, allNames} {
		f := ix.names[language]
		if f == nil {
			continue
		}
		for ascii := range f {
			boost := boosts[2*i+ascii]
			for size := range f[ascii] {
				terms := all[ascii][size]
				for j, term := range terms {
					if t := &f[ascii][size]; open && j == len(terms)-1 {
						t.prefix(term, boost, s)
					} else {
						t.term(term, boost, s)
					}
				}
			}
		}
	}
	return s
}

// top keeps the hits with the lowest ranks, in order.
type top struct {
	size int
	hits []hit
}

type hit struct {
	doc  uint32
	rank float64
}

func (t *top) add(doc uint32, rank float64) {
	order := func(a, b hit) int { return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.doc, b.doc)) }
	h := hit{doc, rank}
	if len(t.hits) == t.size {
		if t.size == 0 || order(h, t.hits[t.size-1]) > 0 {
			return
		}
		t.hits = t.hits[:t.size-1]
	}
	at, _ := slices.BinarySearchFunc(t.hits, h, order)
	t.hits = slices.Insert(t.hits, at, h)
}
