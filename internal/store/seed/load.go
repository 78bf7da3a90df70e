package seed

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/olivere/elastic/v7"
	"golang.org/x/sync/errgroup"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/text/safe"
)

const (
	maxDocs = 4096 // per bulk; bounds the response

	// shardTimeout is how long Elasticsearch waits for an inactive shard before it reports an
	// error.
	shardTimeout = "10s"
)

// loader fills one index.
type loader struct {
	seeding *seeding
	index   string

	sent, bytes int64 // documents read from the set, and bytes of their bulks; set by load
	retries     atomic.Int64
}

// document is one document of a bulk request: its id, its action line and its source line.
type document struct{ id, lines string }

// bulk is a bulk request. The library takes it for a single action and does not encode it again.
type bulk []document

// Source returns the lines that the service sends.
func (b bulk) Source() ([]string, error) {
	all := make([]string, len(b))
	for i, d := range b {
		all[i] = d.lines
	}
	return all, nil
}

// String names the first and the last document.
func (b bulk) String() string {
	return safe.Line(b[0].id, maxText) + " to " + safe.Line(b[len(b)-1].id, maxText)
}

// load sends all documents: one goroutine gathers bulk requests, several send them. At most two
// more bulk requests exist than there are senders.
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

// gather makes bulk requests of about Options.Batch bytes.
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

// send sends b until every document of it is accepted.
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
		return fmt.Errorf("bulk of documents %s: %w", rest, err)
	}
	l.seeding.report(false, func(p *Progress) {
		p.Done += int64(len(b))
		for _, d := range b {
			p.Bytes += int64(len(d.lines) + 1)
		}
	})
	return nil
}

// post sends b once and returns the documents that were not accepted. If it is not the first time
// (again), Elasticsearch may have stored documents before, with the response lost.
func (l *loader) post(ctx context.Context, b bulk, again bool) (rest bulk, err error) {
	ctx, cancel := lingering(ctx)
	defer cancel()
	response, err := l.seeding.client.es.Bulk().Index(l.index).
		FilterPath("errors", "items.*.status", "items.*.error").Timeout(shardTimeout).Add(b).Do(ctx)
	if isJSONError(err) {
		return b, permanent{fmt.Errorf("response of _bulk: %w", err)}
	} else if err != nil {
		return b, err
	}
	items, err := outcomes(response, len(b))
	if err != nil {
		return b, err
	}
	rejected := &RejectedError{}
	var met error
	for i, it := range items {
		switch {
		case it.Status < 300 || it.Status == http.StatusConflict && again:
			continue
		case passing(it.Status, it.Error):
			met = refusal{&elastic.Error{Status: it.Status, Details: it.Error}}
		default:
			if rejected.Total++; len(rejected.First) < MaxRejected {
				rejected.First = append(rejected.First, Rejected{
					Index: l.index, ID: safe.Line(b[i].id, maxText), Status: it.Status, Reason: reasons(it.Error),
				})
			}
		}
		rest = append(rest, b[i])
	}
	if rejected.Total > 0 {
		return rest, permanent{rejected}
	}
	return rest, met
}

// linger is how much longer than its seeding a bulk request may take: what arrives after its index
// was removed would create that again.
const linger = 2 * time.Second

// lingering returns a context that ends that much later than ctx.
func lingering(ctx context.Context) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		late := time.AfterFunc(linger, func() { cancel(context.Cause(ctx)) })
		context.AfterFunc(longer, func() { late.Stop() })
	})
	return longer, func() {
		stop()
		cancel(nil)
	}
}

// outcomes returns the results of a bulk request's documents, in their order.
func outcomes(response *elastic.BulkResponse, docs int) ([]*elastic.BulkResponseItem, error) {
	items := make([]*elastic.BulkResponseItem, 0, docs)
	for i, actions := range response.Items {
		for _, it := range actions {
			if it == nil || it.Status < 200 || it.Status > 599 {
				return nil, permanent{fmt.Errorf("response of _bulk: item %d has no status", i)}
			}
			items = append(items, it)
		}
	}
	if len(response.Items) != docs || len(items) != docs {
		return nil, permanent{fmt.Errorf("response of _bulk: %d items for %d documents", len(items), docs)}
	}
	return items, nil
}

// MaxRejected is the length of the list of rejected documents.
const MaxRejected = 20

// Rejected is a document that Elasticsearch did not accept.
type Rejected struct {
	Index  string // the version that it was sent to
	ID     string
	Status int
	Reason string // Elasticsearch's words, bounded
}

// RejectedError means that documents of a bulk request were rejected. The store is unchanged then.
type RejectedError struct {
	Total int
	First []Rejected
}

// Error lists the first documents, one a line.
func (e *RejectedError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "documents rejected: %d; the store's data is unchanged", e.Total)
	for _, r := range e.First {
		fmt.Fprintf(&b, "\n  %s/%s: %s (%d)", r.Index, r.ID, r.Reason, r.Status)
	}
	if more := e.Total - len(e.First); more > 0 {
		fmt.Fprintf(&b, "\n  and %d more", more)
	}
	if remedy := remedies[e.First[0].Status]; remedy != "" {
		b.WriteString("\n" + remedy)
	}
	return b.String()
}
