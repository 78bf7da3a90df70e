package embedded

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"strconv"

	"github.com/blevesearch/bleve/v2/index/scorch"
	bleve "github.com/blevesearch/bleve_index_api"
	"golang.org/x/sync/errgroup"
)

// textIndex is the inverted index of one index: bleve's scorch, in memory alone. Its documents are
// known by their ordinals, the order in which they came, because that is the order in which Lucene
// numbers documents and breaks ties.
//
// The index is used below bleve's query layer: scores have to be Elasticsearch's to the last bit,
// so bleve supplies terms, postings, frequencies and field lengths, and score.go the arithmetic.
type textIndex struct {
	scorch bleve.Index
	queue  *bleve.AnalysisQueue
	stats  map[string]fieldStats // by the name of the indexed field; as of the last batch

	// As of the last refresh:
	reader   bleve.IndexReader     // nil before it
	ordinals []uint32              // document number of reader → ordinal
	seen     map[string]fieldStats // stats
}

// fieldStats are what BM25 wants to know of a whole field.
type fieldStats struct {
	docs  int64 // that have a term in it
	terms int64 // of all its documents, repeated ones included
}

func openTextIndex() (*textIndex, error) {
	queue := bleve.NewAnalysisQueue(runtime.GOMAXPROCS(0))
	index, err := scorch.NewScorch("embedded", map[string]any{"path": ""}, queue)
	if err == nil {
		err = index.Open()
	}
	if err != nil {
		queue.Close()
		return nil, fmt.Errorf("open index: %w", err)
	}
	return &textIndex{scorch: index, queue: queue, stats: map[string]fieldStats{}}, nil
}

func (t *textIndex) close() error {
	defer t.queue.Close()
	var err error
	if t.reader != nil {
		err = t.reader.Close()
		t.reader = nil
	}
	return errors.Join(err, t.scorch.Close())
}

type change struct {
	ordinal uint32
	doc     *parsed
	gone    bool
}

// minSegment is how many documents a segment is worth: building one is work for one CPU, so that a
// large batch becomes several, but every search has to look through all of them.
const minSegment = 1024

// batch applies changes. They are seen after the next refresh.
func (t *textIndex) batch(changes []change) error {
	docs := make([]*indexed, len(changes))
	parallel(len(changes), 256, func(from, to int) error {
		for i := from; i < to; i++ {
			docs[i] = analyzeDocument(changes[i].ordinal, changes[i].doc)
		}
		return nil
	})
	gone := bleve.NewBatch()
	live := make([]*indexed, 0, len(docs))
	for i, c := range changes {
		if c.gone {
			t.count(docs[i], -1)
			gone.Delete(docs[i].id)
		} else {
			t.count(docs[i], 1)
			live = append(live, docs[i])
		}
	}
	size := max(minSegment, (len(live)+runtime.GOMAXPROCS(0)-1)/runtime.GOMAXPROCS(0))
	err := parallel(len(live), size, func(from, to int) error {
		b := bleve.NewBatch()
		for _, d := range live[from:to] {
			b.Update(d)
		}
		return t.scorch.Batch(b)
	})
	if err == nil && len(gone.IndexOps) > 0 { // after all that may have come in the same batch
		err = t.scorch.Batch(gone)
	}
	if err != nil {
		return fmt.Errorf("index documents: %w", err)
	}
	return nil
}

// count adds a document to the statistics, or with a sign of -1 takes it away.
func (t *textIndex) count(d *indexed, sign int64) {
	for _, f := range d.fields {
		s := t.stats[f.name]
		t.stats[f.name] = fieldStats{s.docs + sign, s.terms + sign*int64(f.length)}
	}
}

// parallel cuts n items into chunks and calls f with them on all CPUs.
func parallel(n, chunk int, f func(from, to int) error) error {
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for from := 0; from < n; from += chunk {
		g.Go(func() error { return f(from, min(from+chunk, n)) })
	}
	return g.Wait()
}

// refresh makes everything visible that was indexed before.
func (t *textIndex) refresh() error {
	reader, err := t.scorch.Reader()
	if err != nil {
		return fmt.Errorf("refresh: %w", err)
	}
	ordinals, err := readOrdinals(reader)
	if err != nil {
		reader.Close()
		return fmt.Errorf("refresh: %w", err)
	}
	if t.reader != nil {
		err = t.reader.Close()
	}
	t.reader, t.ordinals, t.seen = reader, ordinals, maps.Clone(t.stats)
	return err
}

func readOrdinals(reader bleve.IndexReader) ([]uint32, error) {
	all, err := reader.DocIDReaderAll()
	if err != nil {
		return nil, err
	}
	defer all.Close()
	var ordinals []uint32
	for {
		id, err := all.Next()
		if err != nil {
			return nil, err
		}
		if id == nil {
			return ordinals, nil
		}
		external, err := reader.ExternalID(id)
		if err != nil {
			return nil, err
		}
		n, err := strconv.ParseUint(external, 36, 32)
		if err != nil {
			return nil, err
		}
		ordinals = set(ordinals, uint32(id.Value()), uint32(n))
	}
}

// postings are the documents of one term.
type postings struct {
	ordinals []uint32
	reader   bleve.TermFieldReader
	doc      bleve.TermFieldDoc // the current one
}

// postings returns nil if no document has the term. freqs: with frequencies and field lengths.
func (t *textIndex) postings(ctx context.Context, field, term string, freqs bool) (*postings, error) {
	if t.reader == nil {
		return nil, nil
	}
	r, err := t.reader.TermFieldReader(ctx, []byte(term), field, freqs, freqs, false)
	if err != nil {
		return nil, fmt.Errorf("read term: %w", err)
	}
	if r.Count() == 0 {
		return nil, r.Close()
	}
	return &postings{ordinals: t.ordinals, reader: r}, nil
}

func (p *postings) count() int64 { return int64(p.reader.Count()) }

// each calls f with the documents, in no useful order, and closes p.
func (p *postings) each(f func(ordinal uint32)) error {
	defer p.reader.Close()
	for {
		d, err := p.reader.Next(p.doc.Reset())
		if err != nil || d == nil {
			return err
		}
		p.doc = *d
		f(p.ordinals[d.ID.Value()])
	}
}

func (p *postings) frequency() float32 { return float32(p.doc.Freq) }

// length is the number of terms of the field, which bleve gives as one over its square root.
func (p *postings) length() int { return int(1/(p.doc.Norm*p.doc.Norm) + 0.5) }

func (t *textIndex) each(ctx context.Context, field, term string, f func(ordinal uint32)) error {
	p, err := t.postings(ctx, field, term, false)
	if p == nil || err != nil {
		return err
	}
	return p.each(f)
}

// eachPrefix calls f with every document that has a term with this beginning, maybe several times.
func (t *textIndex) eachPrefix(ctx context.Context, field, prefix string, f func(ordinal uint32)) error {
	if t.reader == nil {
		return nil
	}
	dict, err := t.reader.FieldDictPrefix(field, []byte(prefix))
	if err != nil {
		return fmt.Errorf("read terms: %w", err)
	}
	defer dict.Close()
	for {
		entry, err := dict.Next()
		if err != nil || entry == nil {
			return err
		}
		if err := t.each(ctx, field, entry.Term, f); err != nil {
			return err
		}
	}
}
