package embedded

import (
	"context"
	"math"
	"math/bits"
	"unicode/utf8"
)

// searcher evaluates queries on one index. Its caller holds the index for reading.
type searcher struct {
	ctx  context.Context
	ix   *index
	size int // of the view
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
		m.set[i] = ^s.ix.view.dead[i]
	}
	if last := s.size % 64; last != 0 {
		m.set[len(m.set)-1] &= 1<<last - 1
	}
	return m, nil
}

func (matchNone) eval(s *searcher) (*matches, error) { return s.none(), nil }

func (q termQuery) eval(s *searcher) (*matches, error) {
	m := s.none()
	p, err := s.ix.text.postings(s.ctx, q.field.path, q.term, false)
	if p == nil || err != nil {
		return m, err
	}
	m.score = q.boost // of a long: it is a point, not a term, to Lucene
	if q.field.kind != kindLong {
		// A field without norms: its documents count as of length 1.
		m.score = newBM25(q.boost, s.ix.text.seen[q.field.path], p.count()).score(1, 1)
	}
	return m, p.each(m.add)
}

func (q boolQuery) eval(s *searcher) (*matches, error) {
	if len(q.must)+len(q.filter) == 0 {
		return matchAll{q.boost}.eval(s)
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
			if int(ordinal) < s.size && s.ix.view.dead[ordinal/64]&(1<<(ordinal%64)) == 0 && c.shapes[ordinal].contains(q.place) {
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
			err = badRequest("illegal_argument_exception", "field value function must not produce negative scores, but got: [%v] for field value: [%v]", factor, value)
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
	cuts := map[*analyzer][]token{}
	for _, b := range q.fields {
		tokens, ok := cuts[b.field.analyzer]
		if !ok {
			tokens = b.field.analyzer.tokens(q.text)
			cuts[b.field.analyzer] = tokens
		}
		terms := shingle(tokens, b.n)
		if len(terms) > maxClauses {
			return nil, badRequest("too_many_clauses", "maxClauseCount is set to %d", maxClauses)
		}
		found := s.none()
		for i, t := range terms {
			var err error
			if i == len(terms)-1 && t.end == len(q.text) {
				err = s.prefix(b, t.term, found, sums)
			} else {
				err = s.term(b, t.term, found, sums)
			}
			if err != nil {
				return nil, err
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

func (s *searcher) term(b boosted, term string, found *matches, sums []float64) error {
	name := b.field.path + shingleSuffix[b.n]
	p, err := s.ix.text.postings(s.ctx, name, term, true)
	if p == nil || err != nil {
		return err
	}
	scorer := newBM25(b.boost, s.ix.text.seen[name], p.count())
	return p.each(func(ordinal uint32) {
		sums[ordinal] += float64(scorer.score(p.frequency(), p.length()))
		found.add(ordinal)
	})
}

// prefix adds the boost to the documents that have a term with this beginning.
func (s *searcher) prefix(b boosted, prefix string, found *matches, sums []float64) error {
	hit := s.none()
	var err error
	if b.n == 1 && utf8.RuneCountInString(prefix) <= shortPrefix {
		err = s.ix.text.each(s.ctx, b.field.path+prefixSuffix, prefix, hit.add)
	} else {
		err = s.ix.text.eachPrefix(s.ctx, b.field.path+shingleSuffix[b.n], prefix, hit.add)
	}
	hit.each(func(ordinal uint32) {
		sums[ordinal] += float64(b.boost)
		found.add(ordinal)
	})
	return err
}
