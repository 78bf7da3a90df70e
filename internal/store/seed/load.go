package seed

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/olivere/elastic/v7"
	"golang.org/x/sync/errgroup"

	"locbench/internal/bench"
	"locbench/internal/bench/units"
)

// maxDocs bounds the documents of a bulk, and with that its answer.
const maxDocs = 4096

// loader fills one index.
type loader struct {
	client  *client
	index   string
	workers int
	retry   Retry
	meter   *meter
	batch   atomic.Int64 // bytes per body; becomes less where a body is too large

	sent, bytes int64 // documents read from the set, and of their bodies; after load
	retries     atomic.Int64

	mu            sync.Mutex
	rejected      []Rejected
	rejectedTotal int64
	rejectedFirst time.Time // also of an index before this one; zero where there is none
}

// bulk is the body of a bulk request: an action line and a source line for each document. It is a
// single request to the library's bulk service, which copies it once and encodes nothing again.
type bulk struct {
	body  string
	docs  int
	again bool // an earlier try may have taken documents without being able to say so
}

// Source is the body without its last line feed, which the library adds.
func (b bulk) Source() ([]string, error) { return []string{b.body[:len(b.body)-1]}, nil }

func (b bulk) String() string { return b.body }

// halves are two bulks of half the documents each; b has two at least.
func (b bulk) halves() (first, second bulk) {
	half, cut := b.docs/2, 0
	for range 2 * half { // lines
		cut += strings.IndexByte(b.body[cut:], '\n') + 1
	}
	return bulk{b.body[:cut], half, b.again}, bulk{b.body[cut:], b.docs - half, b.again}
}

// idOf is the id in an action line of ours.
func idOf(action string) string {
	var line map[string]struct {
		ID string `json:"_id"`
	}
	_ = json.Unmarshal([]byte(action), &line)
	return line["create"].ID
}

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
		case bodies <- bulk{body: body.String(), docs: n}:
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
		batch := int(l.batch.Load())
		if n == maxDocs || n > 0 && body.Len()+size > batch {
			if err := flush(); err != nil {
				return err
			}
		}
		if n == 0 {
			body.Grow(max(batch, size))
		}
		body.Write(action)
		body.Write(doc.Source)
		body.WriteByte('\n')
		n++
	}
	return flush()
}

// send sends whole until every document of it is taken or rejected. What is too large for the way
// is sent in halves.
func (l *loader) send(ctx context.Context, whole bulk) error {
	try, silent, forward := 0, 0, time.Now()
	for todo := []bulk{whole}; len(todo) > 0; {
		if err := cmp.Or(ctx.Err(), l.enough()); err != nil {
			return err
		}
		b := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if b.docs > 1 && int64(len(b.body)) > l.batch.Load() { // made before that was known to be too large
			first, second := b.halves()
			todo = append(todo, second, first)
			continue
		}
		try++
		rest, err := l.try(ctx, b)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case rest.docs < b.docs:
			try, silent, forward = min(rest.docs, 1), 0, time.Now()
		}
		tooLarge := statusOf(err) == http.StatusRequestEntityTooLarge
		switch {
		case err == nil:
			continue
		case errors.Is(err, errEnough):
			return err
		case tooLarge && b.docs == 1:
			return fmt.Errorf("bulk: %s is too large by itself: %w", l.name(b), err)
		case tooLarge:
			l.shrink(int64(len(b.body) / 2))
			try = 0
		case isSilence(err):
			silent++
		}
		late := silent >= maxSilent || !isSilence(err) && time.Since(forward) > patience
		if !tooLarge && (late || try >= l.retry.tries(err)) {
			return l.gaveUp(try, rest, err)
		}
		l.retries.Add(1)
		l.meter.change(func(p *Progress) { p.Retries++ })
		if (tooLarge || broken(err)) && rest.docs > 1 { // who breaks a connection may mean its length, too
			first, second := rest.halves()
			todo = append(todo, second, first)
		} else {
			todo = append(todo, rest)
		}
		if !tooLarge {
			if err := l.retry.wait(ctx, try); err != nil {
				return err
			}
		}
	}
	return nil
}

// gaveUp is the error after the last try for b.
func (l *loader) gaveUp(try int, b bulk, err error) error {
	switch {
	case outlookAfter(err) == lasting:
		return fmt.Errorf("bulk: %w", err)
	case b.docs == 1:
		return fmt.Errorf("bulk: gave up after %d tries with %s: %w", try, l.name(b), err)
	}
	return fmt.Errorf("bulk: gave up after %d tries: %w", try, err)
}

// name names the only document of b.
func (l *loader) name(b bulk) string {
	action, source, _ := strings.Cut(b.body, "\n")
	return fmt.Sprintf("document %s/%s (%s bytes)", l.index, clip(idOf(action)), units.Count(int64(len(source)-1)))
}

// shrink has the bodies to come be of so many bytes at the most.
func (l *loader) shrink(batch int64) {
	for {
		now := l.batch.Load()
		if batch >= now || l.batch.CompareAndSwap(now, batch) {
			return
		}
	}
}

// broken reports whether a connection broke after it had been made.
func broken(err error) bool {
	dial, ok := errors.AsType[*net.OpError](err)
	return statusOf(err) == 0 && !isSilence(err) && outlookAfter(err) == passing && !(ok && dial.Op == "dial")
}

// grace is how long a bulk request that is under way may still take after an interruption.
const grace = 2 * time.Second

// try sends b once. What was taken or rejected is booked; the rest is returned with the error that
// it met. A request under way is not cut off: Elasticsearch might work on it after the clean-up, and
// would make an index for it again, with no mark of ours.
func (l *loader) try(ctx context.Context, b bulk) (rest bulk, err error) {
	interrupted := ctx
	ctx, cancel := context.WithCancel(context.WithoutCancel(interrupted))
	defer cancel()
	defer context.AfterFunc(interrupted, func() { time.AfterFunc(grace, cancel) })()
	answer, err := l.client.Bulk().Index(l.index).FilterPath("errors", "items.*.status", "items.*.error").
		Timeout(shardTimeout).Add(b).Do(ctx)
	if isJSONError(err) {
		err = fmt.Errorf("%w: %w", errAnswer, err)
	}
	if err != nil {
		err, rest = explain(err), b
		rest.again = b.again || statusOf(err) != http.StatusRequestEntityTooLarge
		return rest, err
	}
	items, err := outcomes(answer, b.docs)
	if err != nil {
		return b, err
	}
	if !answer.Errors {
		l.meter.taken(b.docs, len(b.body))
		return bulk{}, nil
	}
	return l.sort(b, items)
}

// shardTimeout is how long Elasticsearch waits for a shard that does not work, before it says so.
const shardTimeout = "10s"

// sort books the items of an answer with errors, and gathers the documents to be sent again, with
// the first of the refusals that they met; one that concerns all documents comes before others.
func (l *loader) sort(b bulk, items []*elastic.BulkResponseItem) (bulk, error) {
	var again strings.Builder
	var met *elastic.BulkResponseItem
	var taken, size, rejected int
	lines := strings.SplitAfter(b.body, "\n")
	turned := 0
	for i, it := range items {
		document, kind := lines[2*i]+lines[2*i+1], kindOf(it.Error)
		look := outlookOf(it.Status, kind)
		switch {
		case it.Status < 300 || it.Status == http.StatusConflict && b.again:
			taken++
			size += len(document)
		case look == lasting && !ofStore(it.Status, kind):
			l.reject(lines[2*i], it)
			rejected++
		default:
			if again.WriteString(document); met == nil || look < outlookOf(met.Status, kindOf(met.Error)) {
				met = it
			}
			turned++
		}
	}
	l.meter.taken(taken, size)
	rest := bulk{again.String(), turned, true}
	switch {
	case met != nil:
		text := fmt.Sprintf("%s turned away: %s (%d)", units.Plural(turned, "document"), clip(reasons(met.Error)), met.Status)
		return rest, &refusal{met.Status, kindOf(met.Error), advised(text, remedy(met.Status, met.Error))}
	case rejected > 1 && rejected == len(items):
		return rest, errEnough
	}
	return rest, nil
}

func (l *loader) reject(action string, it *elastic.BulkResponseItem) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rejectedTotal++; l.rejectedFirst.IsZero() {
		l.rejectedFirst = time.Now()
	}
	if len(l.rejected) < MaxRejected {
		l.rejected = append(l.rejected, Rejected{
			Index: l.index, ID: idOf(action), Status: it.Status,
			Reason: clip(reasons(it.Error)), Remedy: remedy(it.Status, it.Error),
		})
	}
}

// errEnough ends a seeding of which it is certain that it changes nothing: no document of a bulk
// was acceptable, or time enough has passed since the first rejected one to list others.
var errEnough = errors.New("documents were rejected")

func (l *loader) enough() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.rejectedFirst.IsZero() && time.Since(l.rejectedFirst) > afterRejected {
		return errEnough
	}
	return nil
}
