package embedded

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"sync"

	"github.com/blevesearch/bleve/v2/document"
	"github.com/blevesearch/bleve/v2/index/scorch"
	bleve "github.com/blevesearch/bleve_index_api"
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
	stats  map[string]*fieldStats // by the name of the indexed field; as of the last batch

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
	return &textIndex{scorch: index, queue: queue, stats: map[string]*fieldStats{}}, nil
}

func (t *textIndex) close() error {
	var err error
	if t.reader != nil {
		err = t.reader.Close()
		t.reader = nil
	}
	err = errors.Join(err, t.scorch.Close())
	t.queue.Close()
	return err
}

// change is one document that comes or goes.
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
		t.count(docs[i], c.gone)
		if c.gone {
			gone.Delete(docs[i].id)
		} else {
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

// count adds a document to the statistics, or takes it away.
func (t *textIndex) count(d *indexed, gone bool) {
	sign := int64(1)
	if gone {
		sign = -1
	}
	for _, f := range d.fields {
		s := t.stats[f.name]
		if s == nil {
			s = &fieldStats{}
			t.stats[f.name] = s
		}
		s.docs += sign
		s.terms += sign * int64(f.length)
	}
}

// parallel cuts n items into chunks and calls f with them on all CPUs.
func parallel(n, chunk int, f func(from, to int) error) error {
	var wg sync.WaitGroup
	errs := make([]error, (n+chunk-1)/chunk)
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i := range errs {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			errs[i] = f(i*chunk, min((i+1)*chunk, n))
		})
	}
	wg.Wait()
	return errors.Join(errs...)
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
	t.reader, t.ordinals = reader, ordinals
	t.seen = make(map[string]fieldStats, len(t.stats))
	for name, s := range t.stats {
		t.seen[name] = *s
	}
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
		number := id.Value()
		for uint64(len(ordinals)) <= number {
			ordinals = append(ordinals, 0)
		}
		ordinals[number] = uint32(n)
	}
}

// postings iterates over the documents of one term, in no useful order.
type postings struct {
	index  *textIndex
	reader bleve.TermFieldReader
	doc    bleve.TermFieldDoc
}

// postings returns nil if the term is in no document. With freqs the frequency and the field length
// are read as well.
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
	return &postings{index: t, reader: r}, nil
}

// count is the number of documents that have the term.
func (p *postings) count() int64 { return int64(p.reader.Count()) }

func (p *postings) next() (ordinal uint32, ok bool, err error) {
	d, err := p.reader.Next(p.doc.Reset())
	if err != nil || d == nil {
		return 0, false, err
	}
	p.doc = *d
	return p.index.ordinals[d.ID.Value()], true, nil
}

// frequency is how often the term is in the field of the current document.
func (p *postings) frequency() float32 { return float32(p.doc.Freq) }

// length is the number of terms of the field of the current document, which bleve gives as one over
// its square root.
func (p *postings) length() int { return int(1/(p.doc.Norm*p.doc.Norm) + 0.5) }

func (p *postings) close() error { return p.reader.Close() }

// each calls f with every document that has the term.
func (t *textIndex) each(ctx context.Context, field, term string, f func(ordinal uint32)) error {
	p, err := t.postings(ctx, field, term, false)
	if p == nil || err != nil {
		return err
	}
	defer p.close()
	for {
		ordinal, ok, err := p.next()
		if !ok || err != nil {
			return err
		}
		f(ordinal)
	}
}

// eachPrefix calls f with every document that has a term beginning with prefix, possibly several
// times.
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

// idOf is the name of a document in bleve.
func idOf(ordinal uint32) string { return strconv.FormatUint(uint64(ordinal), 36) }

// bleveID is the field that bleve finds documents by.
func bleveID(id string) bleve.Field {
	return document.NewTextFieldCustom("_id", nil, []byte(id), bleve.IndexField|bleve.StoreField, nil)
}
