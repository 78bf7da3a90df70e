package embedded

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/locbench/locbench/internal/bench"
)

// Source is the part of a bench.DataSet that the store needs.
type Source interface {
	Indices() []bench.Index
	Documents(index string) iter.Seq2[bench.Document, error]
}

// contents is the data of the store. It is complete and never changes.
type contents struct {
	list   []*index
	byName map[string]*index // by name and by alias
}

// Fill replaces the data of the store by the data set: each of its indices as <name>_v1, with the
// alias <name>. Until all documents are loaded, and after an error, the store has its old data. The
// error names the document and index that are not accepted. Fill calls progress, which may be nil,
// about four times a second with the number of documents read.
func (s *Server) Fill(ctx context.Context, set Source, progress func(done int64)) error {
	all := &contents{byName: map[string]*index{}}
	f := filling{progress: progress, reported: time.Now()}
	for _, i := range set.Indices() {
		m, err := parseMapping(i.Mapping)
		if err != nil {
			return fmt.Errorf("mapping of index %s: %w", i.Name, err)
		}
		ix := newIndex(i.Name+"_v1", m, i.Count)
		if err := f.index(ctx, ix, set.Documents(i.Name)); err != nil {
			return fmt.Errorf("fill index %s: %w", i.Name, err)
		}
		if n := int64(len(ix.docs)); n != i.Count {
			return fmt.Errorf("fill index %s: %d documents read, %d expected",
				i.Name, n, i.Count)
		}
		all.list = append(all.list, ix)
		all.byName[i.Name], all.byName[ix.name] = ix, ix
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.contents.Store(all)
	}
	return nil
}

// filling is one call of Fill.
type filling struct {
	progress func(done int64)
	reported time.Time
	done     int64
}

// chunk is a sequence of documents that one goroutine parses while others parse the next ones.
type chunk struct {
	docs   []*parsed
	err    error // from the document after the last one in docs
	parsed chan struct{}
}

const chunkSize = 256

// index reads documents, parses them on all CPUs and adds them in order.
func (f *filling) index(ctx context.Context, ix *index, docs iter.Seq2[bench.Document, error]) error {
	g, ctx := errgroup.WithContext(ctx)
	chunks := make(chan *chunk, runtime.GOMAXPROCS(0))
	g.Go(func() error {
		defer close(chunks)
		return read(ctx, docs, func(raw []stored) error {
			c := &chunk{parsed: make(chan struct{})}
			g.Go(func() error {
				defer close(c.parsed)
				c.parse(ix.mapping, raw)
				return nil
			})
			select {
			case chunks <- c:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
	})
	g.Go(func() error {
		for c := range chunks {
			<-c.parsed
			if err := f.add(ix, c); err != nil {
				return err
			}
		}
		return nil
	})
	if err := g.Wait(); err != nil {
		return err
	}
	ix.seal()
	return nil
}

// read sends documents in chunks, with copies of their sources.
func read(ctx context.Context, docs iter.Seq2[bench.Document, error], yield func([]stored) error) error {
	var raw []stored
	for doc, err := range docs {
		if err != nil {
			return err
		}
		raw = append(raw, stored{id: doc.ID, source: bytes.Clone(doc.Source)})
		if len(raw) < chunkSize {
			continue
		}
		if err := yield(raw); err != nil {
			return err
		}
		raw = nil
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return yield(raw)
}

func (c *chunk) parse(m *mapping, raw []stored) {
	for _, doc := range raw {
		d, err := m.parseDocument(doc.id, doc.source)
		if err != nil {
			c.err = fmt.Errorf("document %s: %w", shorten(doc.id), err)
			return
		}
		c.docs = append(c.docs, d)
	}
}

func (f *filling) add(ix *index, c *chunk) error {
	for _, d := range c.docs {
		if !ix.add(d) {
			return fmt.Errorf("document %s: duplicate id", shorten(d.id))
		}
	}
	f.done += int64(len(c.docs))
	if f.progress != nil && time.Since(f.reported) > 250*time.Millisecond {
		f.reported = time.Now()
		f.progress(f.done)
	}
	return c.err
}
