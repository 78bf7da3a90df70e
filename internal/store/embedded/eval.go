package embedded

import (
	"math"
	"math/bits"
	"slices"
	"strings"
)

// searcher evaluates queries on one index.
type searcher struct {
	ix   *index
	size int // documents
}

// matches are the documents that a query finds, each with its score or all with the same one.
type matches struct {
	set    []uint64
	scores []float32 // by ordinal; nil: score is the score of all
	score  float32
}

func (s *searcher) none() *matches { return &matches{set: make([]uint64, (s.size+63)/64)} }

func (m *matches) add(ordinal uint32) { m.set[ordinal/64] |= 1 << (ordinal % 64) }

func (m *matches) scoreOf(ordinal uint32) float32 {
	if m.scores == nil {
		return m.score
	}
	return m.scores[ordinal]
}

func (m *matches) count() (n int) {
	for _, w := range m.set {
		n += bits.OnesCount64(w)
	}
	return n
}

// each calls f with the ordinals in ascending order.
func (m *matches) each(f func(ordinal uint32)) {
	for i, w := range m.set {
		for w != 0 {
			f(uint32(i*64 + bits.TrailingZeros64(w)))
			w &= w - 1
		}
	}
}

func (matchAll) eval(s *searcher) *matches {
	m := s.none()
	m.score = 1
	for i := range m.set {
		m.set[i] = math.MaxUint64
	}
	if last := s.size % 64; last != 0 {
		m.set[len(m.set)-1] = 1<<last - 1
	}
	return m
}

func (q termQuery) eval(s *searcher) *matches {
	m := s.none()
	t := s.ix.terms[q.field.path]
	if list := t.find(q.term); list != nil {
		// A field without norms: the length of its documents counts as 1.
		m.score = newBM25(1, t, int64(len(list))).score(1, encodeLength(1))
		for _, ordinal := range list {
			m.add(ordinal)
		}
	}
	return m
}

// eval scores by must; without must every score is 0.
func (q boolQuery) eval(s *searcher) *matches {
	m := &matches{}
	filter := q.filter
	if q.must != nil {
		m = q.must.eval(s)
	} else {
		m.set, filter = filter[0].eval(s).set, filter[1:]
	}
	for _, n := range filter {
		for j, part := range n.eval(s).set {
			m.set[j] &= part
		}
	}
	return m
}

func (q shapeQuery) eval(s *searcher) *matches {
	m := s.none()
	m.score = 1
	if c := s.ix.columns[q.field]; c != nil {
		c.grid.candidates(q.place, func(ordinal uint32) {
			if c.shapes[ordinal].contains(q.place) {
				m.add(ordinal)
			}
		})
	}
	return m
}

func (q scoreQuery) eval(s *searcher) *matches {
	inner := q.query.eval(s)
	m := &matches{set: inner.set, scores: make([]float32, s.size)}
	c := s.ix.columns[q.field]
	inner.each(func(ordinal uint32) {
		value := q.missing
		if c.present(ordinal) {
			value = float64(c.longs[ordinal])
		}
		m.scores[ordinal] = float32(float64(inner.scoreOf(ordinal)) * math.Log1p(value+1)) // ln2p
	})
	return m
}

// eval adds up the scores of the fields. Each field is a query for all terms of the text; the last
// term is a prefix if the text ends with it. As in Elasticsearch, a prefix scores its boost, and
// the other terms score by BM25.
func (q prefixQuery) eval(s *searcher) *matches {
	m := s.none()
	totals, sums := make([]float64, s.size), make([]float64, s.size)
	cuts := map[analyzed][]token{}
	for _, b := range q.fields {
		terms := shingle(b.field.analyzer.tokens(q.text, cuts), b.n)
		found := s.none()
		for i, t := range terms {
			if i == len(terms)-1 && t.end == len(q.text) {
				s.prefix(b, t.term, found, sums)
			} else {
				s.term(b, t.term, found, sums)
			}
		}
		found.each(func(ordinal uint32) {
			totals[ordinal] += float64(float32(sums[ordinal])) // Lucene rounds at each level of the query
			sums[ordinal] = 0
			m.add(ordinal)
		})
	}
	m.scores = make([]float32, s.size)
	m.each(func(ordinal uint32) { m.scores[ordinal] = float32(totals[ordinal]) })
	return m
}

func (s *searcher) term(b boosted, term string, found *matches, sums []float64) {
	t := s.ix.terms[b.field.path+shingleSuffix[b.n]]
	list := t.find(term)
	docs := int64(0)
	for i, ordinal := range list {
		if i == 0 || ordinal != list[i-1] {
			docs++
		}
	}
	if docs == 0 {
		return
	}
	scorer := newBM25(b.boost, t, docs)
	for from := 0; from < len(list); {
		ordinal, to := list[from], from+1
		for to < len(list) && list[to] == ordinal {
			to++
		}
		sums[ordinal] += float64(scorer.score(float32(to-from), t.lengths[ordinal]))
		found.add(ordinal)
		from = to
	}
}

// prefix adds the boost to the documents with a term that begins like this.
func (s *searcher) prefix(b boosted, prefix string, found *matches, sums []float64) {
	t := s.ix.terms[b.field.path+shingleSuffix[b.n]]
	if t == nil {
		return
	}
	hit := s.none()
	from, _ := slices.BinarySearch(t.sorted, prefix)
	for i := from; i < len(t.sorted) && strings.HasPrefix(t.sorted[i], prefix); i++ {
		for _, ordinal := range t.lists[i] {
			hit.add(ordinal)
		}
	}
	hit.each(func(ordinal uint32) {
		sums[ordinal] += float64(b.boost)
		found.add(ordinal)
	})
}
