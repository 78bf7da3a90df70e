// Package seed fills an Elasticsearch 7 with a data set, in bulk, and without ever showing half of
// it.
//
// Each index of the set is loaded into a new version, <name>_v<n>; once all of them are complete
// and counted, one call moves all aliases, and only then the older versions go. Whatever ends a
// seeding before that leaves the store answering as before, and takes its own unfinished versions
// away; a seeding that could not (it was killed) has them taken away by the next one. Indices that
// locbench made carry a mark in their mapping (_meta.locbench); no other index is ever changed or
// removed. Two seedings of the same names at a time are not meant.
//
// The calls, all through olivere/elastic's services (so that authentication in the URL works). Its
// bulk service gets whole bodies, since it would encode each document once more otherwise; why not
// its bulk processor is in docs/decisions/2026-11-22-dependencies.md.
//
// What a response refuses is judged by its status and Elasticsearch's type of the error (refusal.go):
// what passes is tried again, with pauses; what stays ends the seeding at once, with the store's
// reason and what to do. Redirects are not followed, and answers are bounded.
//
//	GET    /                       is it an Elasticsearch 7?
//	GET    /_alias                 which indices and aliases are there
//	GET    /<index>/_mapping       whose are those called <name>_v<n> or <name>
//	PUT    /<index>                a new version
//	POST   /<index>/_bulk          create actions, from several workers
//	POST   /<index>/_refresh
//	POST   /<index>/_count
//	POST   /_aliases               the swap
//	DELETE /<index>                older versions
//
// Where the documents come from is left to package dataset.
package seed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net"
	"net/http"
	"slices"
	"sync"
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
	OnProgress func(Progress) // may be nil; called about four times a second while documents are taken, and at the end

	dial dialer // of tests, whose store is in memory; nil: the network
}

type dialer = func(ctx context.Context, network, address string) (net.Conn, error)

// Defaults of Options. A batch passes the usual limit of proxies, 1 MB.
const (
	DefaultWorkers = 4
	DefaultBatch   = 900 << 10
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
	Server    string // version of Elasticsearch
	Unchanged bool   // the same data was there already; nothing was done
	Indices   []IndexResult
	Removed   []string       // older or unfinished versions
	Warnings  bench.Warnings // what the data set's indices note, and an older version that could not be removed
	Elapsed   time.Duration
}

// IndexResult is the part of one index.
type IndexResult struct {
	Alias     string
	Index     string // the version that the alias now points to
	Documents int64  // counted in the index at the end
	Bytes     int64  // of the bulk requests, without repetitions
	Retries   int64  // bulk requests sent again
	Elapsed   time.Duration
}

// PerSecond returns the rate at which the documents were taken.
func (r IndexResult) PerSecond() float64 {
	if r.Elapsed <= 0 {
		return 0
	}
	return float64(r.Documents) / r.Elapsed.Seconds()
}

// cleanUp bounds what is done after the seeding has ended or been interrupted.
const cleanUp = 20 * time.Second

// Run seeds. The error is a *RejectedError where documents were not taken.
func Run(ctx context.Context, o Options) (Result, error) {
	o.Workers, o.Batch = cmp.Or(max(o.Workers, 0), DefaultWorkers), cmp.Or(max(o.Batch, 0), DefaultBatch)
	started := time.Now()
	c, err := connect(o.URL, o.Workers, o.dial)
	if err != nil {
		return Result{}, fmt.Errorf("seed: %w", err)
	}
	defer c.http.CloseIdleConnections()
	s := seeding{options: o, client: c, started: started}
	err = s.run(ctx)
	s.result.Elapsed = time.Since(started)
	if err != nil {
		return s.result, fmt.Errorf("seed %s: %w", c.name, err)
	}
	return s.result, nil
}

type seeding struct {
	options Options
	client  *client
	result  Result
	made    []string // versions of this seeding
	started time.Time

	mu       sync.Mutex // guards what follows
	progress Progress
	reported time.Time
}

// report changes the progress and calls OnProgress, if the last time is a while ago.
func (s *seeding) report(atOnce bool, change func(*Progress)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.progress)
	if s.options.OnProgress == nil || !atOnce && time.Since(s.reported) < 250*time.Millisecond {
		return
	}
	s.reported = time.Now()
	p := s.progress
	if p.Elapsed = time.Since(s.started); p.Elapsed > 0 {
		p.PerSecond = float64(p.Done) / p.Elapsed.Seconds()
	}
	s.options.OnProgress(p)
}

func (s *seeding) run(ctx context.Context) (err error) {
	if s.result.Server, err = s.client.version(ctx); err != nil {
		return err
	}
	plans, err := survey(ctx, s.client, s.options.Set)
	if err != nil {
		return err
	}
	for _, p := range plans {
		s.result.Warnings = append(s.result.Warnings, p.index.Notes...)
		s.progress.Total += p.index.Count
	}
	if !s.options.Force {
		unchanged, err := s.unchanged(ctx, plans)
		if unchanged || err != nil {
			return err
		}
	}
	for _, p := range plans {
		if err := s.remove(ctx, p.unfinished); err != nil {
			return fmt.Errorf("remove what an interrupted seeding left: %w", err)
		}
	}
	for _, p := range plans {
		if err = s.load(ctx, p); err != nil {
			break
		}
	}
	s.report(true, func(*Progress) {})
	if err == nil {
		err = s.publish(ctx, plans)
	}
	// Neither cleaning up nor removing ends with ctx: Ctrl-C leaves nothing behind.
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), cleanUp, silence(cleanUp))
	defer cancel()
	if err != nil {
		return errors.Join(err, s.abandon(ctx))
	}
	for _, p := range plans { // the new data is in use: an old version that stays is not a failure
		if err := s.remove(ctx, p.published); err != nil {
			s.result.Warnings.Add(bench.Warning{Text: fmt.Sprintf("an older version stays until the next seeding: %v", err)})
		}
	}
	return nil
}

// unchanged reports whether every alias points to a whole index with this data, and then records it.
func (s *seeding) unchanged(ctx context.Context, plans []*plan) (bool, error) {
	indices := make([]IndexResult, len(plans))
	for i, p := range plans {
		if len(p.published) != 1 || p.hash != s.options.Set.Info().Hash {
			return false, nil
		}
		count, err := s.client.count(ctx, p.published[0])
		if err != nil {
			return false, err
		}
		if count != p.index.Count {
			return false, nil // somebody added or removed documents since
		}
		indices[i] = IndexResult{Alias: p.index.Name, Index: p.published[0], Documents: count}
	}
	s.result.Indices, s.result.Unchanged = indices, true
	return true, nil
}

// load makes and fills a new version.
func (s *seeding) load(ctx context.Context, p *plan) error {
	body, err := p.body(s.options.Set.Info())
	if err != nil {
		return err
	}
	s.made = append(s.made, p.next)
	err = retry(ctx, func(again bool) error {
		_, err := s.client.es.CreateIndex(p.next).BodyString(string(body)).Do(ctx)
		if again && kindOf(err) == existsAlready {
			return nil // only the response got lost
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("create index %s: %w", p.next, err)
	}
	s.report(false, func(all *Progress) { all.Index = p.index.Name })
	l := loader{seeding: s, index: p.next}
	started := time.Now()
	if err := l.load(ctx, s.options.Set.Documents(p.index.Name)); err != nil {
		return fmt.Errorf("load %s: %w", p.next, err)
	}
	elapsed := time.Since(started)
	err = retry(ctx, func(bool) error {
		_, err := s.client.es.Refresh(p.next).Do(ctx)
		return err
	})
	if err != nil {
		return fmt.Errorf("refresh %s: %w", p.next, err)
	}
	count, err := s.client.count(ctx, p.next)
	switch {
	case err != nil:
		return err
	case l.sent != p.index.Count:
		return fmt.Errorf("index %s: the data set gave %d documents where it had promised %d; it changed in the meantime",
			p.index.Name, l.sent, p.index.Count)
	case count != l.sent:
		return fmt.Errorf("index %s holds %d documents, but %d were sent; does an id appear twice?", p.next, count, l.sent)
	}
	s.result.Indices = append(s.result.Indices, IndexResult{
		Alias: p.index.Name, Index: p.next, Documents: count, Bytes: l.bytes, Retries: l.retries.Load(), Elapsed: elapsed,
	})
	return nil
}

// publish moves all aliases at once. It outlives ctx, or nobody could say if it took place.
func (s *seeding) publish(ctx context.Context, plans []*plan) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), cleanUp, silence(cleanUp))
	defer cancel()
	swap := s.client.es.Alias()
	for _, p := range plans {
		for _, old := range p.published {
			swap.Remove(old, p.index.Name)
		}
		swap.Add(p.next, p.index.Name)
	}
	err := retry(ctx, func(again bool) error {
		_, err := swap.Do(ctx)
		if again && statusOf(explain(err)) == http.StatusNotFound && s.published(ctx, plans) {
			return nil // only the response got lost
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("move the aliases: %w", err)
	}
	return nil
}

// published reports whether the aliases point to the new versions.
func (s *seeding) published(ctx context.Context, plans []*plan) bool {
	existing, err := s.client.indices(ctx)
	return err == nil && !slices.ContainsFunc(plans, func(p *plan) bool {
		return !slices.Contains(existing[p.next], p.index.Name)
	})
}

// abandon removes the versions that this seeding made, but for one that an alias points to after all
// (a response got lost).
func (s *seeding) abandon(ctx context.Context) error {
	existing, err := s.client.indices(ctx)
	if err != nil {
		return fmt.Errorf("clean up: %w", err)
	}
	var errs []error
	for _, index := range s.made {
		if aliases, there := existing[index]; there && len(aliases) == 0 {
			if err := s.client.remove(ctx, index); err != nil {
				errs = append(errs, fmt.Errorf("clean up: %s stays until the next seeding: %w", index, err))
			}
		}
	}
	return errors.Join(errs...)
}

func (s *seeding) remove(ctx context.Context, indices []string) error {
	for _, index := range indices {
		if err := s.client.remove(ctx, index); err != nil {
			return fmt.Errorf("remove index %s: %w", index, err)
		}
		s.result.Removed = append(s.result.Removed, index)
	}
	return nil
}
