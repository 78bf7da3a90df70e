// Package seed fills an Elasticsearch 7 with a data set, in bulk, and without ever showing half of
// it.
//
// Each index of the set is loaded into a new version, <name>_v<n>; once all of them are complete
// and counted, one call moves all aliases, and only then the older versions go. Whatever ends a
// seeding before that leaves the store answering as before, and takes its own unfinished versions
// away; a seeding that could not (it was killed) has them taken away by the next one. Indices that
// locbench made carry a mark in their mapping (_meta.locbench); no other index is ever changed or
// removed.
//
// Two seedings of the same names at a time are not meant: the later one takes the earlier one's
// unfinished versions for leftovers, and the earlier one ends with an error.
//
// The calls, all through olivere/elastic's services (so that authentication in the URL works). Its
// bulk service gets whole bodies, since it would encode each document once more otherwise; why not
// its bulk processor is in docs/decisions/2026-11-22-dependencies.md.
//
// What an answer refuses is judged by its status and Elasticsearch's type of the error (refusal.go):
// what passes is tried again, with pauses; what stays ends the seeding at once, with the store's
// reason and what to do; what is too large for the way is sent in halves. Documents that are
// rejected one by one are listed; the seeding ends with the first bulk that has no other, or some
// seconds after the first of them. Redirects are not followed, and answers are bounded.
//
//	GET    /                       is it an Elasticsearch 7?
//	GET    /_alias                 which indices and aliases are there
//	GET    /<index>/_mapping       whose are those called <name>_v<n> or <name>
//	PUT    /<index>                a new version, without refresh and replicas
//	POST   /<index>/_bulk          create actions, from several workers
//	POST   /<index>/_refresh
//	POST   /<index>/_count
//	PUT    /<index>/_settings      refresh and replicas as the mapping has them
//	POST   /_aliases               the swap
//	DELETE /<index>                older versions
//
// Where the documents come from is left to package dataset, and who answers (a real Elasticsearch
// or the embedded store) to the URL.
package seed

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"net"
	"slices"
	"time"

	"locbench/internal/bench"
)

// Source is the data set as far as seeding needs it; a bench.DataSet is one.
type Source interface {
	Info() bench.DataInfo
	Indices() []bench.Index
	Documents(index string) iter.Seq2[bench.Document, error]
}

// Options say what goes where. URL and Set are needed.
type Options struct {
	URL        string // of Elasticsearch, e.g. http://127.0.0.1:9200; may hold a user name and password
	Set        Source
	Force      bool           // load even if the very same data is there already
	Workers    int            // bulk requests at a time; 0: DefaultWorkers
	Batch      int            // bytes per bulk request, about; 0: DefaultBatch
	Retry      Retry          // zero: DefaultRetry
	OnProgress func(Progress) // may be nil; called from one goroutine about four times a second, and at the end

	dial dialer // of tests, whose store is in memory; nil: the network
}

type dialer = func(ctx context.Context, network, address string) (net.Conn, error)

// Defaults of Options. BenchmarkSeed shows what they are worth.
const (
	DefaultWorkers = 4
	DefaultBatch   = 2 << 20
)

// Progress is how far a seeding is.
type Progress struct {
	Index     string // being loaded: its alias
	Done      int64  // documents taken, of the whole set
	Total     int64  // documents of the whole set
	Bytes     int64  // of bulk requests taken
	Retries   int64  // bulk requests sent again so far
	Elapsed   time.Duration
	PerSecond float64 // documents, since the start
}

// Remaining estimates the time still needed; 0 when nothing can be said.
func (p Progress) Remaining() time.Duration {
	if p.PerSecond <= 0 || p.Total <= p.Done {
		return 0
	}
	return time.Duration(float64(p.Total-p.Done) / p.PerSecond * float64(time.Second))
}

// Result is what a seeding did.
type Result struct {
	Server        string // version of Elasticsearch
	Unchanged     bool   // the same data was there already; nothing was done
	Indices       []IndexResult
	Rejected      []Rejected // the first MaxRejected documents that Elasticsearch did not take
	RejectedTotal int64
	Removed       []string       // older or unfinished versions
	Warnings      bench.Findings // what the data set's indices note, and an older version that could not be removed
	Elapsed       time.Duration
}

// IndexResult is the part of one index.
type IndexResult struct {
	Alias     string
	Index     string // the version that the alias now points to
	Documents int64  // counted in the index at the end
	Bytes     int64  // of the bulk requests, without repetitions
	Retries   int64  // bulk requests sent again, in whole or in part
	Elapsed   time.Duration
}

// PerSecond is the rate at which the documents were taken.
func (r IndexResult) PerSecond() float64 {
	if r.Elapsed <= 0 {
		return 0
	}
	return float64(r.Documents) / r.Elapsed.Seconds()
}

// cleanUp bounds what is done after the seeding has ended or been interrupted.
const cleanUp = 20 * time.Second

// Run seeds. Where the error is a *RejectedError, the Result lists the documents.
func Run(ctx context.Context, o Options) (Result, error) {
	o.Workers, o.Batch = cmp.Or(max(o.Workers, 0), DefaultWorkers), cmp.Or(max(o.Batch, 0), DefaultBatch)
	o.Retry = cmp.Or(o.Retry, DefaultRetry())
	started := time.Now()
	c, err := connect(o.URL, o.Workers, o.dial)
	if err != nil {
		return Result{}, fmt.Errorf("seed: %w", err)
	}
	defer c.closeIdle()
	r := run{Options: o, client: c}
	err = r.do(ctx)
	r.result.Elapsed = time.Since(started)
	if err != nil {
		return r.result, fmt.Errorf("seed %s: %w", c.name, err)
	}
	return r.result, nil
}

// run is one seeding.
type run struct {
	Options
	client *client
	result Result
	tried  int64 // documents, where rejected ones ended the loading; else 0
}

func (r *run) do(ctx context.Context) (err error) {
	if r.result.Server, err = r.client.version(ctx); err != nil {
		return err
	}
	plans, err := survey(ctx, r.client, r.Set)
	if err != nil {
		return err
	}
	for _, p := range plans {
		r.result.Warnings = append(r.result.Warnings, p.Notes...)
	}
	if !r.Force {
		unchanged, err := r.unchanged(ctx, plans)
		if unchanged || err != nil {
			return err
		}
	}
	for _, p := range plans {
		if err := r.remove(ctx, p.unfinished); err != nil {
			return fmt.Errorf("remove what an interrupted seeding left: %w", err)
		}
	}
	token := rand.Text()
	defer func() {
		if err != nil {
			err = errors.Join(err, r.abandon(ctx, plans, token))
		}
	}()
	if err := r.load(ctx, plans, token); err != nil {
		return err
	}
	if r.result.RejectedTotal > 0 {
		return &RejectedError{Total: r.result.RejectedTotal, First: r.result.Rejected, Tried: r.tried}
	}
	if err := r.publish(ctx, plans, token); err != nil {
		return err
	}
	// From here on the new data is in use: an old version that stays is not a failure.
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), cleanUp, silence(cleanUp))
	defer cancel()
	for _, p := range plans {
		if err := r.remove(ctx, p.published); err != nil {
			r.result.Warnings.Add(bench.Finding{Text: fmt.Sprintf("an older version stays until the next seeding: %v", err)})
		}
	}
	return nil
}

// unchanged reports whether every alias points to a whole index with this data, and then records it.
func (r *run) unchanged(ctx context.Context, plans []*plan) (bool, error) {
	indices := make([]IndexResult, len(plans))
	for i, p := range plans {
		if len(p.published) != 1 || p.marks[p.published[0]].Hash != p.hash {
			return false, nil
		}
		count, err := r.client.count(ctx, p.published[0])
		if err != nil {
			return false, err
		}
		if count != p.Count {
			return false, nil // somebody added or removed documents since
		}
		indices[i] = IndexResult{Alias: p.Name, Index: p.published[0], Documents: count}
	}
	r.result.Indices, r.result.Unchanged = indices, true
	return true, nil
}

// load makes and fills all new versions. Rejected documents are counted on for a while, so that
// those of a small set are all reported.
func (r *run) load(ctx context.Context, plans []*plan, token string) error {
	meter := newMeter(r.OnProgress, plans)
	defer meter.close()
	var rejectedFirst time.Time
	for _, p := range plans {
		body, restore, err := p.body(r.Set.Info().Name, token)
		if err != nil {
			return err
		}
		if err := r.create(ctx, p, body, token); err != nil {
			return fmt.Errorf("create index %s: %w", p.next, err)
		}
		meter.change(func(all *Progress) { all.Index = p.Name })
		l := loader{
			client: r.client, index: p.next, workers: r.Workers, retry: r.Retry, meter: meter, rejectedFirst: rejectedFirst,
		}
		l.batch.Store(int64(r.Batch))
		started := time.Now()
		err = l.load(ctx, r.Set.Documents(p.Name))
		elapsed := time.Since(started)
		r.result.Rejected = append(r.result.Rejected, l.rejected...)
		r.result.Rejected = r.result.Rejected[:min(len(r.result.Rejected), MaxRejected)]
		r.result.RejectedTotal += l.rejectedTotal
		rejectedFirst = l.rejectedFirst
		switch {
		case errors.Is(err, errEnough):
			r.tried = meter.read().Done + r.result.RejectedTotal
			return nil
		case err != nil:
			return fmt.Errorf("load %s: %w", p.next, err)
		}
		if err := r.Retry.repeat(ctx, func() error {
			_, err := r.client.Refresh(p.next).Do(ctx)
			return err
		}); err != nil {
			return fmt.Errorf("refresh %s: %w", p.next, err)
		}
		var count int64
		err = r.Retry.repeat(ctx, func() (err error) {
			count, err = r.client.count(ctx, p.next)
			return err
		})
		switch {
		case err != nil:
			return err
		case l.sent != p.Count:
			return fmt.Errorf("index %s: the data set gave %d documents where it had promised %d; it changed in the meantime",
				p.Name, l.sent, p.Count)
		case count != l.sent && l.rejectedTotal == 0:
			return fmt.Errorf("index %s holds %d documents, but %d were sent; does an id appear twice?", p.next, count, l.sent)
		}
		r.result.Indices = append(r.result.Indices, IndexResult{
			Alias: p.Name, Index: p.next, Documents: count, Bytes: l.bytes, Retries: l.retries.Load(), Elapsed: elapsed,
		})
		if err := r.Retry.repeat(ctx, func() error {
			_, err := r.client.IndexPutSettings(p.next).BodyString(string(restore)).Do(ctx)
			return err
		}); err != nil {
			return fmt.Errorf("settings of %s: %w", p.next, err)
		}
	}
	return nil
}

// create makes the new version. One that is there with our token was made by a call whose answer
// got lost.
func (r *run) create(ctx context.Context, p *plan, body []byte, token string) error {
	return r.Retry.repeat(ctx, func() error {
		_, err := r.client.CreateIndex(p.next).BodyString(string(body)).Do(ctx)
		if e, ok := errors.AsType[*refusal](explain(err)); ok && e.kind == existsAlready {
			if m, errMark := r.client.mark(ctx, p.next); errMark == nil && m.Token == token {
				return nil
			}
		}
		return err
	})
}

// publish moves all aliases at once. It outlives ctx, or nobody could say if it took place.
func (r *run) publish(ctx context.Context, plans []*plan, token string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), cleanUp, silence(cleanUp))
	defer cancel()
	swap := r.client.Alias()
	for _, p := range plans {
		m, err := r.client.mark(ctx, p.next)
		if err != nil {
			return err
		}
		if m.Token != token {
			return fmt.Errorf("index %s was removed or replaced while it was loaded; is another seeding at work?", p.next)
		}
		for _, old := range p.published {
			swap.Remove(old, p.Name)
		}
		swap.Add(p.next, p.Name)
	}
	if err := r.Retry.repeat(ctx, func() error {
		_, err := swap.Do(ctx)
		if err != nil && outlookAfter(explain(err)) == passing && r.published(ctx, plans) {
			return nil // only the answer got lost
		}
		return err
	}); err != nil {
		return fmt.Errorf("move the aliases: %w", err)
	}
	return nil
}

// published reports whether the aliases point to the new versions.
func (r *run) published(ctx context.Context, plans []*plan) bool {
	existing, err := r.client.indices(ctx)
	return err == nil && !slices.ContainsFunc(plans, func(p *plan) bool {
		return !slices.Contains(existing[p.next], p.Name)
	})
}

// abandon removes the versions that this seeding made. It outlives ctx, so that Ctrl-C leaves
// nothing behind; it spares a version that an alias points to after all (an answer got lost) or
// that somebody else has made in its place.
func (r *run) abandon(ctx context.Context, plans []*plan, token string) error {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), cleanUp, silence(cleanUp))
	defer cancel()
	existing, err := r.client.indices(ctx)
	if err != nil {
		return fmt.Errorf("clean up: %w", err)
	}
	var errs []error
	for _, p := range plans {
		aliases, ok := existing[p.next]
		if !ok || len(aliases) > 0 {
			continue
		}
		m, err := r.client.mark(ctx, p.next)
		if err == nil && m.Token == token {
			err = r.client.remove(ctx, p.next)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("clean up: %s stays until the next seeding: %w", p.next, err))
		}
	}
	return errors.Join(errs...)
}

func (r *run) remove(ctx context.Context, indices []string) error {
	for _, index := range indices {
		if err := r.client.remove(ctx, index); err != nil {
			return fmt.Errorf("remove index %s: %w", index, err)
		}
		r.result.Removed = append(r.result.Removed, index)
	}
	return nil
}
