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

// matches are the documents that a query finds, with a score for each, or one score for all.
type matches struct {
	set    []uint64
	scores []float32 // by ordinal; nil where all have score
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

func (q matchAll) eval(s *searcher) (*matches, error) {
	m := s.none()
	m.score = q.boost
	for i := range m.set {
		m.set[i] = math.MaxUint64
	}
	if last := s.size % 64; last != 0 {
		m.set[len(m.set)-1] = 1<<last - 1
	}
	return m, nil
}

func (matchNone) eval(s *searcher) (*matches, error) { return s.none(), nil }

func (q termQuery) eval(s *searcher) (*matches, error) {
	m := s.none()
	t := s.ix.terms[q.field.path]
	if list := t.find(q.term); list != nil {
		// A field without norms: its documents count as of length 1.
		m.score = newBM25(q.boost, t, int64(len(list))).score(1, encodeLength(1))
		for _, ordinal := range list {
			m.add(ordinal)
		}
	}
	return m, nil
}

// keyword is the value that a document has in a column of keywords.
func (s *searcher) keyword(f *field, ordinal uint32) string {
	return s.ix.terms[f.path].sorted[s.ix.columns[f].keywords[ordinal]]
}

func (q boolQuery) eval(s *searcher) (*matches, error) {
	if len(q.must)+len(q.filter) == 0 {
		return matchAll{1}.eval(s)
	}
	m := &matches{}
	var scored []*matches
	for i, n := range append(q.must[:len(q.must):len(q.must)], q.filter...) {
		part, err := n.eval(s)
		if err != nil {
			return nil, err
		}
		if i < len(q.must) {
			scored = append(scored, part)
		}
		if m.set == nil {
			m.set = append(m.set, part.set...)
			continue
		}
		for j := range m.set {
			m.set[j] &= part.set[j]
		}
	}
	switch len(scored) {
	case 0: // filters alone: all score 0
	case 1:
		m.score, m.scores = scored[0].score, scored[0].scores
	default:
		m.scores = make([]float32, s.size)
		m.each(func(ordinal uint32) {
			var sum float64
			for _, part := range scored {
				sum += float64(part.scoreOf(ordinal))
			}
			m.scores[ordinal] = float32(sum)
		})
	}
	return m, nil
}

func (q shapeQuery) eval(s *searcher) (*matches, error) {
	m := s.none()
	m.score = 1
	if c := s.ix.columns[q.field]; c != nil {
		c.grid.candidates(q.place, func(ordinal uint32) {
			if c.shapes[ordinal].contains(q.place) {
				m.add(ordinal)
			}
		})
	}
	return m, nil
}

func (q scoreQuery) eval(s *searcher) (*matches, error) {
	inner, err := q.query.eval(s)
	if err != nil {
		return nil, err
	}
	m := &matches{set: inner.set, scores: make([]float32, s.size)}
	c := s.ix.columns[q.field] // nil without a field
	inner.each(func(ordinal uint32) {
		var value float64
		switch {
		case c.present(ordinal):
			value = float64(c.longs[ordinal])
		case q.missing != nil:
			value = *q.missing
		default:
			err = badRequest("exception", "Missing value for field [%s]", q.field.path)
			return
		}
		factor := q.apply(float64(value * q.factor))
		if factor < 0 || math.IsNaN(factor) {
			err = badRequest("illegal_argument_exception",
				"field value function must not produce negative scores, but got: [%v] for field value: [%v]", factor, value)
			return
		}
		m.scores[ordinal] = float32(float64(inner.scoreOf(ordinal)) * math.Min(factor, math.MaxFloat32))
	})
	return m, err
}

// eval sums over the fields: each is a query of all the terms of the text, of which the last is a
// prefix if the text ends with it. As in Elasticsearch, a prefix scores its boost alone, and the
// other terms by BM25.
func (q prefixQuery) eval(s *searcher) (*matches, error) {
	m := s.none()
	totals, sums := make([]float64, s.size), make([]float64, s.size)
	cuts := map[analyzed][]token{}
	for _, b := range q.fields {
		terms := shingle(b.field.analyzer.tokens(q.text, cuts), b.n)
		if len(terms) > maxClauses {
			return nil, badRequest("too_many_clauses", "maxClauseCount is set to %d", maxClauses)
		}
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
	return m, nil
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

// prefix adds the boost to the documents that have a term with this beginning.
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
