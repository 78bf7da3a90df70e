package seed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/olivere/elastic/v7"
	"golang.org/x/sync/errgroup"

	"locbench/internal/bench"
)

// Retry says how often and how patiently a bulk request is repeated that was turned away (429),
// failed on the other side (5xx), or got no answer. Before try n the pause is between half and all
// of Base·2ⁿ⁻¹, at most Max.
type Retry struct {
	Tries int // in a row without a single document taken
	Base  time.Duration
	Max   time.Duration
}

// DefaultRetry gives up after some 40 seconds without progress: a restart may take as long.
func DefaultRetry() Retry { return Retry{12, 100 * time.Millisecond, 10 * time.Second} }

func (r Retry) pause(try int) time.Duration {
	d := r.Max
	if try < 32 {
		d = min(r.Base<<(try-1), r.Max)
	}
	return d/2 + time.Duration(rand.Int64N(int64(d/2)+1))
}

// loader fills one index.
type loader struct {
	client  *client
	index   string
	batch   int
	workers int
	retry   Retry
	meter   *meter

	sent, bytes int64 // documents read from the set, and of their bodies; after load
	retries     atomic.Int64

	mu            sync.Mutex
	rejected      []Rejected
	rejectedTotal int64
}

// bulk is the body of a bulk request: an action line and a source line for each document. It is a
// single request to the library's bulk service, which copies it once and encodes nothing again.
type bulk struct {
	body string
	docs int
}

// Source is the body without its last line feed, which the library adds.
func (b bulk) Source() ([]string, error) { return []string{b.body[:len(b.body)-1]}, nil }

func (b bulk) String() string { return b.body }

// load sends all documents: one goroutine writes bodies, several send them. No more exist
// than there are senders, and two.
func (l *loader) load(ctx context.Context, docs iter.Seq2[bench.Document, error]) error {
	g, ctx := errgroup.WithContext(ctx)
	bodies := make(chan bulk)
	g.Go(func() error {
		defer close(bodies)
		return l.write(ctx, docs, bodies)
	})
	for range l.workers {
		g.Go(func() error {
			for b := range bodies {
				if err := l.send(ctx, b); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// write gathers documents to bodies of about l.batch bytes.
func (l *loader) write(ctx context.Context, docs iter.Seq2[bench.Document, error], bodies chan<- bulk) error {
	var body strings.Builder
	var action []byte
	n := 0
	flush := func() error {
		if n == 0 {
			return nil
		}
		select {
		case bodies <- bulk{body.String(), n}:
		case <-ctx.Done():
			return ctx.Err()
		}
		l.bytes += int64(body.Len())
		l.sent += int64(n)
		body.Reset()
		n = 0
		return nil
	}
	for doc, err := range docs {
		if err != nil {
			return err
		}
		action = doc.AppendAction(action[:0], "create")
		size := len(action) + len(doc.Source) + 1
		if n > 0 && body.Len()+size > l.batch {
			if err := flush(); err != nil {
				return err
			}
		}
		if n == 0 {
			body.Grow(max(l.batch, size))
		}
		body.Write(action)
		body.Write(doc.Source)
		body.WriteByte('\n')
		n++
	}
	return flush()
}

// send sends b until every document of it is taken or rejected.
func (l *loader) send(ctx context.Context, b bulk) error {
	again := false // an earlier try may have taken documents without being able to say so
	silent := 0    // tries that were not answered at all
	for try := 1; ; try++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		rest, err := l.try(ctx, b, again)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil && rest.docs == 0:
			return nil
		case err != nil && !worthRetrying(err):
			return fmt.Errorf("bulk: %w", err)
		case err == nil && rest.docs < b.docs:
			try = 1 // it goes forward
		}
		again = true
		if isSilence(err) {
			silent++
		}
		if err == nil {
			err = fmt.Errorf("%d documents were turned away", rest.docs)
			b = rest
		}
		if try >= l.retry.Tries || silent >= maxSilent {
			return fmt.Errorf("bulk: gave up after %d tries: %w", try, err)
		}
		l.retries.Add(1)
		l.meter.change(func(p *Progress) { p.Retries++ })
		select {
		case <-time.After(l.retry.pause(try)):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func worthRetrying(err error) bool {
	status := statusOf(err)
	return status == http.StatusTooManyRequests || status >= 500 || status == 0 && !errors.Is(err, errAnswer)
}

// maxSilent is how many tries of a bulk request may stay without an answer: each takes minutes.
const maxSilent = 2

// grace is how long a bulk request that is under way may still take after an interruption.
const grace = 2 * time.Second

// try sends b once. What is to be sent again is returned; what was taken or rejected is booked. A
// request under way is not cut off: Elasticsearch might work on it after the clean-up, and would
// make an index anew for it, with no mark of ours.
func (l *loader) try(ctx context.Context, b bulk, again bool) (rest bulk, err error) {
	interrupted := ctx
	ctx, cancel := context.WithCancel(context.WithoutCancel(interrupted))
	defer cancel()
	defer context.AfterFunc(interrupted, func() { time.AfterFunc(grace, cancel) })()
	answer, err := l.client.Bulk().Index(l.index).FilterPath("errors", "items.*.status", "items.*.error").Add(b).Do(ctx)
	if isJSONError(err) {
		return b, fmt.Errorf("%w: %w", errAnswer, err)
	}
	if err != nil {
		return b, explain(err)
	}
	items, err := outcomes(answer, b.docs)
	if err != nil {
		return b, err
	}
	if !answer.Errors {
		l.meter.taken(b.docs, len(b.body))
		return bulk{}, nil
	}
	return l.sort(b, items, again), nil
}

// sort books the items of an answer with errors, and gathers the documents to be sent again.
func (l *loader) sort(b bulk, items []*elastic.BulkResponseItem, again bool) bulk {
	var rest strings.Builder
	var n, docs, size int
	lines := strings.SplitAfter(b.body, "\n")
	for i, it := range items {
		document := lines[2*i] + lines[2*i+1]
		switch {
		case it.Status < 300 || it.Status == http.StatusConflict && again:
			docs++
			size += len(document)
		case it.Status == http.StatusTooManyRequests || it.Status >= 500:
			rest.WriteString(document)
			n++
		default:
			l.reject(lines[2*i], it)
		}
	}
	l.meter.taken(docs, size)
	return bulk{rest.String(), n}
}

func (l *loader) reject(action string, it *elastic.BulkResponseItem) {
	var line map[string]struct {
		ID string `json:"_id"`
	}
	_ = json.Unmarshal([]byte(action), &line) // our own line
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rejectedTotal++
	if len(l.rejected) < MaxRejected {
		l.rejected = append(l.rejected, Rejected{Index: l.index, ID: line["create"].ID, Status: it.Status, Reason: clip(reasons(it.Error))})
	}
}
