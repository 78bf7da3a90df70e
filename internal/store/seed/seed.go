// Package seed fills an Elasticsearch or OpenSearch with a data set, in bulk. Clients see all of it or nothing.
//
// Each index of the set is loaded into a new version, <name>_v<n>. Once all versions are complete
// and counted, one call moves all aliases, and only then the older versions are removed. A seeding
// that ends before that leaves the store's responses unchanged and removes its own unfinished
// versions; if it was killed, the next seeding removes them. Indices that locbench created have a
// mark in their mapping (_meta.locbench); no other index is ever changed or removed. Do not run two
// seedings of the same names at the same time.
//
// All calls go through olivere/elastic's services, so authentication in the URL works. Its bulk
// service gets whole bodies, since it would encode each document again otherwise. Why its bulk
// processor is not used is in docs/decisions/2026-11-22-dependencies.md.
//
// The status and Elasticsearch's error type decide what a refusal means (refusal.go). A temporary
// one is tried again, with pauses; a permanent one ends the seeding at once, with the store's
// reason and what to do. Redirects are not followed. The size of responses is limited. The calls:
//
//	GET    /                       the version; where that is a 405, of GET /_nodes/_local
//	GET    /_alias                 list indices and aliases
//	GET    /<index>/_mapping       read the mark of <name>_v<n> and <name>
//	PUT    /<index>                a new version
//	POST   /<index>/_bulk          send create actions, from several workers
//	POST   /<index>/_refresh
//	POST   /<index>/_count
//	POST   /_aliases               the swap
//	DELETE /<index>                older versions
//
// The documents come from package dataset.
package seed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/olivere/elastic/v7"

	"github.com/locbench/locbench/internal/bench"
)

// Options say which data goes where. URL and Set are required.
type Options struct {
	URL        string // of Elasticsearch, e.g. http://127.0.0.1:9200; may hold a user name and password
	Set        bench.DataSet
	Force      bool           // load even if the store has the same data
	Workers    int            // bulk requests at a time; 0: DefaultWorkers
	Batch      int            // bytes per bulk request, about; 0: DefaultBatch
	OnProgress func(Progress) // may be nil; called about four times a second during the load, and at the end

	dial dialer // for tests with a store in memory; nil: the network
}

type dialer = func(ctx context.Context, network, address string) (net.Conn, error)

// Defaults of Options. A batch is below the usual limit of proxies, 1 MB.
const (
	DefaultWorkers = 4
	DefaultBatch   = 900 << 10
)

// Progress says how far a seeding has come.
type Progress struct {
	Index     string // alias of the index that is being loaded
	Done      int64  // documents accepted, of the whole set
	Total     int64  // documents of the whole set
	Bytes     int64  // size of the bulk requests accepted
	Retries   int64  // bulk requests sent again so far
	Elapsed   time.Duration
	PerSecond float64 // documents per second, since the start
}

// Remaining estimates the time still needed; 0 if it is not known.
func (p Progress) Remaining() time.Duration {
	if p.PerSecond <= 0 || p.Total <= p.Done {
		return 0
	}
	return time.Duration(float64(p.Total-p.Done) / p.PerSecond * float64(time.Second))
}

// Result says what a seeding did.
type Result struct {
	Server    string // its version, with the distribution if it names one
	Unchanged bool   // the store already had the same data; nothing was done
	Indices   []IndexResult
	Removed   []string       // older or unfinished versions
	Warnings  bench.Warnings // an older version could not be removed
	Elapsed   time.Duration
}

// IndexResult is the result of one index.
type IndexResult struct {
	Alias     string
	Index     string // the version that the alias now points to
	Documents int64  // counted in the index at the end
	Bytes     int64  // size of the bulk requests, without repetitions
	Retries   int64  // bulk requests sent again
	Elapsed   time.Duration
}

// PerSecond returns the rate at which the documents were accepted.
func (r IndexResult) PerSecond() float64 {
	if r.Elapsed <= 0 {
		return 0
	}
	return float64(r.Documents) / r.Elapsed.Seconds()
}

// cleanUp is the time limit for cleaning up after the seeding has ended or been interrupted.
const cleanUp = 20 * time.Second

// Run seeds the store. The error is a *RejectedError if documents were rejected.
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
		return s.result, fmt.Errorf("seed %s: %w", c.url, err)
	}
	return s.result, nil
}

type seeding struct {
	options Options
	client  *client
	result  Result
	made    []string // versions that this seeding created
	started time.Time

	mu       sync.Mutex // guards the fields below
	progress Progress
	reported time.Time
}

// report changes the progress. It calls OnProgress if the last call was long enough ago.
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
	if s.result.Server, _, err = s.client.identify(ctx); err != nil {
		return err
	}
	plans, err := survey(ctx, s.client, s.options.Set)
	if err != nil {
		return err
	}
	for _, p := range plans {
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
			return fmt.Errorf("remove indices of an interrupted seeding: %w", err)
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
	// Neither cleaning up nor removing ends with ctx: Ctrl-C must not leave unfinished indices.
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), cleanUp, silence(cleanUp))
	defer cancel()
	if err != nil {
		return errors.Join(err, s.abandon(ctx))
	}
	for _, p := range plans { // the new data is in use: an old version that remains is not a failure
		if err := s.remove(ctx, p.published); err != nil {
			s.result.Warnings.Add(bench.Warning{
				Text: fmt.Sprintf("older data not removed; the next seeding tries again: %v", err)})
		}
	}
	return nil
}

// unchanged reports, and records, whether every alias points to a complete index with this data.
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
			return false, nil // documents were added or removed since
		}
		indices[i] = IndexResult{Alias: p.index.Name, Index: p.published[0], Documents: count}
	}
	s.result.Indices, s.result.Unchanged = indices, true
	return true, nil
}

// load creates and fills a new version.
func (s *seeding) load(ctx context.Context, p *plan) error {
	body, err := p.body(s.options.Set.Info())
	if err != nil {
		return err
	}
	s.made = append(s.made, p.next)
	err = retry(ctx, func(again bool) error {
		_, err := s.client.es.CreateIndex(p.next).BodyString(string(body)).Do(ctx)
		if e, ok := errors.AsType[*elastic.Error](err); again && ok && e.Details != nil && e.Details.Type == existsAlready {
			return nil // only the response got lost
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("create index %s: %w", p.next, lacking(err))
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
		return fmt.Errorf("index %s: %d documents read, %d expected: the data set changed during the load",
			p.index.Name, l.sent, p.index.Count)
	case count != l.sent:
		return fmt.Errorf("index %s has %d documents, but %d were sent: look for duplicate ids", p.next, count, l.sent)
	}
	s.result.Indices = append(s.result.Indices, IndexResult{
		Alias: p.index.Name, Index: p.next, Documents: count, Bytes: l.bytes, Retries: l.retries.Load(), Elapsed: elapsed,
	})
	return nil
}

// publish moves all aliases at once. It outlives ctx: a canceled call may or may not take effect.
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
		if again && elastic.IsNotFound(err) && s.published(ctx, plans) {
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

// abandon removes the versions that this seeding created, except one that an alias points to: then
// only the response got lost.
func (s *seeding) abandon(ctx context.Context) error {
	existing, err := s.client.indices(ctx)
	if err != nil {
		return fmt.Errorf("clean up: %w", err)
	}
	var errs []error
	for _, index := range s.made {
		if aliases, there := existing[index]; there && len(aliases) == 0 {
			if err := s.client.remove(ctx, index); err != nil {
				errs = append(errs, fmt.Errorf("clean up: %s not removed; the next seeding tries again: %w", index, err))
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
