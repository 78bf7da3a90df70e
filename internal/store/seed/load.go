package seed

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/olivere/elastic/v7"
	"golang.org/x/sync/errgroup"

	"locbench/internal/bench"
)

const (
	maxDocs = 4096 // of a bulk, which bounds its response

	// shardTimeout is how long Elasticsearch waits for a shard that does not work, before it says so.
	shardTimeout = "10s"
)

// loader fills one index.
type loader struct {
	seeding *seeding
	index   string

	sent, bytes int64 // documents read from the set, and of their bodies; after load
	retries     atomic.Int64
}

// document is one of a bulk request: its id, and its lines of action and source.
type document struct{ id, lines string }

// bulk is a whole bulk request. To the library's bulk service it is a single one, of which it encodes
// nothing again.
type bulk []document

// Source returns what the service sends.
func (b bulk) Source() ([]string, error) {
	all := make([]string, len(b))
	for i, d := range b {
		all[i] = d.lines
	}
	return all, nil
}

// String names the documents.
func (b bulk) String() string { return clip(b[0].id) + " to " + clip(b[len(b)-1].id) }

// load sends all documents: one goroutine gathers bulk requests, several send them. No more
// exist than there are senders, and two.
func (l *loader) load(ctx context.Context, docs iter.Seq2[bench.Document, error]) error {
	g, ctx := errgroup.WithContext(ctx)
	bulks := make(chan bulk)
	g.Go(func() error {
		defer close(bulks)
		return l.gather(ctx, docs, bulks)
	})
	for range l.seeding.options.Workers {
		g.Go(func() error {
			for b := range bulks {
				if err := l.send(ctx, b); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// gather makes bulk requests of about so many bytes as the options say.
func (l *loader) gather(ctx context.Context, docs iter.Seq2[bench.Document, error], bulks chan<- bulk) error {
	var b bulk
	size := 0
	flush := func() error {
		if len(b) == 0 {
			return nil
		}
		select {
		case bulks <- b:
		case <-ctx.Done():
			return ctx.Err()
		}
		l.bytes += int64(size)
		l.sent += int64(len(b))
		b, size = nil, 0
		return nil
	}
	var lines []byte
	for doc, err := range docs {
		if err != nil {
			return err
		}
		lines = append(doc.AppendAction(lines[:0], "create"), doc.Source...)
		if len(b) == maxDocs || size+len(lines) >= l.seeding.options.Batch {
			if err := flush(); err != nil {
				return err
			}
		}
		b, size = append(b, document{doc.ID, string(lines)}), size+len(lines)+1
	}
	return flush()
}

// send sends b until every document of it is taken.
func (l *loader) send(ctx context.Context, b bulk) error {
	rest := b
	err := retry(ctx, func(again bool) (err error) {
		if again {
			l.retries.Add(1)
			l.seeding.report(false, func(p *Progress) { p.Retries++ })
		}
		rest, err = l.post(ctx, rest, again)
		return err
	})
	if err != nil {
		return fmt.Errorf("bulk of the documents %s: %w", rest, err)
	}
	l.seeding.report(false, func(p *Progress) {
		p.Done += int64(len(b))
		for _, d := range b {
			p.Bytes += int64(len(d.lines) + 1)
		}
	})
	return nil
}

// post sends b once, and returns what of it was not taken. Of a second time, an earlier one may have
// taken documents without being able to say so.
func (l *loader) post(ctx context.Context, b bulk, again bool) (rest bulk, err error) {
	response, err := l.seeding.client.es.Bulk().Index(l.index).
		FilterPath("errors", "items.*.status", "items.*.error").Timeout(shardTimeout).Add(b).Do(ctx)
	if isJSONError(err) {
		return b, &refusal{text: "answer of _bulk: " + err.Error()}
	} else if err != nil {
		return b, err
	}
	items, err := outcomes(response, len(b))
	if err != nil {
		return b, err
	}
	rejected := &RejectedError{}
	var met *refusal
	for i, it := range items {
		switch {
		case it.Status < 300 || it.Status == http.StatusConflict && again:
			continue
		case passing(it.Status, typeOf(it.Error)):
			text := fmt.Sprintf("a document was turned away: %s (%d)", clip(reasons(it.Error)), it.Status)
			met = &refusal{it.Status, typeOf(it.Error), advised(text, remedy(it.Status, it.Error))}
		default:
			if rejected.Total++; len(rejected.First) < MaxRejected {
				rejected.First = append(rejected.First, Rejected{
					Index: l.index, ID: clip(b[i].id), Status: it.Status,
					Reason: clip(reasons(it.Error)), Remedy: remedy(it.Status, it.Error),
				})
			}
		}
		rest = append(rest, b[i])
	}
	switch {
	case rejected.Total > 0:
		return rest, rejected
	case met != nil:
		return rest, met
	}
	return nil, nil
}

// outcomes returns what has become of the documents of a bulk request, in their order.
func outcomes(response *elastic.BulkResponse, docs int) ([]*elastic.BulkResponseItem, error) {
	items := make([]*elastic.BulkResponseItem, 0, docs)
	for i, actions := range response.Items {
		for _, it := range actions {
			if it == nil || it.Status < 200 || it.Status > 599 {
				return nil, &refusal{text: fmt.Sprintf("answer of _bulk: item %d has no status", i)}
			}
			items = append(items, it)
		}
	}
	if len(response.Items) != docs || len(items) != docs {
		return nil, &refusal{text: fmt.Sprintf("answer of _bulk: %d items for %d documents", len(items), docs)}
	}
	return items, nil
}

// MaxRejected bounds the list of rejected documents.
const MaxRejected = 20

// Rejected is a document that Elasticsearch did not take.
type Rejected struct {
	Index  string // the version that it was meant for
	ID     string
	Status int
	Reason string // Elasticsearch's words, bounded
	Remedy string // what to do about it; "" where that is not known
}

// RejectedError says that documents of a bulk request were rejected, and that therefore nothing was
// changed.
type RejectedError struct {
	Total int
	First []Rejected
}

// Error lists the first documents, one a line.
func (e *RejectedError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "documents rejected: %d; nothing was changed", e.Total)
	for _, r := range e.First {
		fmt.Fprintf(&b, "\n  %s/%s: %s (%d)", r.Index, r.ID, r.Reason, r.Status)
	}
	if more := e.Total - len(e.First); more > 0 {
		fmt.Fprintf(&b, "\n  and %d more", more)
	}
	if e.First[0].Remedy != "" {
		b.WriteString("\n" + e.First[0].Remedy)
	}
	return b.String()
}
