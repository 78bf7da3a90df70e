package embedded

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

// contents is the data of the store. It is complete and never changes.
type contents struct{ byName map[string]*index }

// Fill replaces the data of the store by the data set. Until all documents are loaded, and after an
// error, the store has its old data. The error names the document and index that are not accepted.
// Fill calls progress, which may be nil, about four times a second with the number of documents
// read.
func (s *Server) Fill(ctx context.Context, set bench.DataSet, progress func(done int64)) error {
	all := &contents{byName: map[string]*index{}}
	f := filling{progress: progress, reported: time.Now()}
	for _, i := range set.Indices() {
		ix := newIndex(i.Name, i.Count)
		if err := f.index(ctx, ix, set.Documents(i.Name)); err != nil {
			return fmt.Errorf("fill index %s: %w", i.Name, err)
		}
		if n := int64(len(ix.docs)); n != i.Count {
			return fmt.Errorf("fill index %s: %d documents read, %d expected", i.Name, n, i.Count)
		}
		all.byName[i.Name] = ix
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

// batchSize is how many documents are read at a time, on all CPUs.
const batchSize = 4096

// index adds documents in order.
func (f *filling) index(ctx context.Context, ix *index, docs iter.Seq2[bench.Document, error]) error {
	var batch []document
	for doc, err := range docs {
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return err
		}
		if batch = append(batch, document{id: doc.ID, source: bytes.Clone(doc.Source)}); len(batch) == batchSize {
			if err := f.add(ix, batch); err != nil {
				return err
			}
			batch = batch[:0]
		}
	}
	if err := f.add(ix, batch); err != nil {
		return err
	}
	ix.seal()
	return nil
}

func (f *filling) add(ix *index, batch []document) error {
	var reading sync.WaitGroup
	for part := range slices.Chunk(batch, batchSize/runtime.GOMAXPROCS(0)+1) {
		reading.Go(func() {
			for i := range part {
				part[i].read()
			}
		})
	}
	reading.Wait()
	for i := range batch {
		if err := ix.add(&batch[i]); err != nil {
			return err
		}
	}
	f.done += int64(len(batch))
	if f.progress != nil && time.Since(f.reported) > 250*time.Millisecond {
		f.reported = time.Now()
		f.progress(f.done)
	}
	return nil
}
