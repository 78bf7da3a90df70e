// Package elasticsearch is the need for an Elasticsearch with the data set of the locations
// service.
package elasticsearch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/host/hostusage"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/store"
	"github.com/locbench/locbench/internal/store/dataset"
	"github.com/locbench/locbench/internal/store/seed"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/secret"
)

// Name is the name of the need in profiles and results.
const Name = "elasticsearch"

// Data is the data set of the locations service.
type Data struct{ dataset.Set }

// find finds the store and the data set of a profile. Requests may use the data without the store.
func find(n bench.NeedSpec, _ bench.Profile, url string) (found needs.Found, err error) {
	var data Data
	if data.Set, err = dataset.Open(specOf(n).Cities.set()); err != nil {
		return found, err
	}
	found.Data = data
	if !n.From.Traits().None {
		spec := storeOf(n)
		spec.URL = url
		elsewhere := "--store container or --elastic http://HOST:9200"
		if n.From.Traits().Container {
			elsewhere = "--store embedded"
		}
		found.Needs = []needs.Named{{Name: n.Name, Elsewhere: elsewhere, Need: &Need{name: n.Name, spec: spec, data: data.Set}}}
	}
	return found, nil
}

// Responses returns what the responses to requests contain.
func (d Data) Responses(requests []bench.Request) (needs.Responses, error) {
	return dataset.NewResponses(d.Set, requests)
}

// Need is an Elasticsearch. It is embedded, external or in a container.
type Need struct {
	name string
	spec store.Spec
	data dataset.Set

	warn   func(bench.Warning)
	store  *store.Store
	url    string // for contenders
	usage  *hostusage.Counters
	counts map[string]int64 // documents per index at the last call of Restore
}

// Open opens the store and makes it reachable for contenders.
func (n *Need) Open(ctx context.Context, at needs.Place) (err error) {
	n.warn = at.Warn
	if n.store, err = store.Open(ctx, n.spec, store.Options{
		Seed: at.Seed, CPUs: at.CPUs, Containers: at.Containers, Progress: at.Progress,
	}); err != nil {
		return err
	}
	switch to := at.Network; {
	case to.Host == "":
		n.url = n.store.URL()
	case to.Named:
		n.url, err = n.store.ListenAs(to.Host)
	default:
		n.url, err = n.store.Listen(net.JoinHostPort(to.Host, "0"), to.Peers...)
	}
	if err != nil {
		return fmt.Errorf("let containers reach %s: %w", Name, err)
	}
	n.readUsage(len(at.CPUs))
	for _, w := range n.store.Warnings() {
		n.warn(w)
	}
	return nil
}

// readUsage opens the counters of the store, if it can.
func (n *Need) readUsage(cpus int) {
	var err error
	if work, ok := n.store.Work(); ok {
		n.usage = hostusage.Embedded(work)
	} else if n.traits().Container {
		if n.usage, err = hostusage.Container(n.store.PID()); err == nil {
			n.usage.KeptTo(cpus)
		}
	} else {
		n.usage, err = hostusage.Address(n.store.URL())
	}
	if err != nil {
		n.usage = nil
	}
}

func (n *Need) traits() bench.NeedTraits { return n.store.Info().From.Traits() }

// Seed gives this run's own store its data. It only verifies those of an external store: only
// 'locbench seed' writes to that.
func (n *Need) Seed(ctx context.Context, progress func(bench.Progress)) (string, error) {
	if n.traits().ByURL {
		return n.verify(ctx)
	}
	var total int64
	for _, i := range n.data.Indices() {
		total += i.Count
	}
	report := func(done int64) { progress(bench.Progress{Done: done, Total: total, Unit: "documents"}) }
	fill := n.seed
	if n.traits().InClient {
		fill = func(ctx context.Context, report func(int64)) error { return n.store.Fill(ctx, n.data, report) }
	}
	if err := fill(ctx, report); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s data, %s documents", n.data.Info().Name, units.Count(total)), nil
}

// seed seeds this run's own store over HTTP, and makes it read-only.
func (n *Need) seed(ctx context.Context, report func(done int64)) error {
	if err := n.store.Unseal(ctx); err != nil { // --resume finds it read-only
		return err
	}
	onProgress := func(p seed.Progress) { report(p.Done) }
	res, err := seed.Run(ctx, seed.Options{URL: n.store.URL(), Set: n.data, OnProgress: onProgress})
	if err != nil {
		return err
	}
	for _, w := range res.Warnings {
		n.warn(w)
	}
	return n.store.Seal(ctx)
}

// verify compares the number of documents of each index with the data set's. Other numbers are a
// warning, since the user may intend them; an empty index is an error.
func (n *Need) verify(ctx context.Context) (string, error) {
	var total int64
	command := safe.Shell([]string{"locbench", "seed", "--elastic", n.store.Info().URL})
	for _, index := range n.data.Indices() {
		count, err := n.store.Count(ctx, index.Name)
		if errors.Is(err, store.ErrNoIndex) || err == nil && count == 0 {
			return "", fmt.Errorf("the index %q of %s is empty; seed it with: %s", index.Name, Name, command)
		}
		if err != nil {
			return "", err
		}
		if count != index.Count {
			n.warn(bench.Warning{Text: fmt.Sprintf(
				"index %q has %s documents, data set %s has %s: requests may miss ids and checks may fail (fix: %s)",
				index.Name, units.Count(count), n.data.Info().Name, units.Count(index.Count), command)})
		}
		total += count
	}
	return fmt.Sprintf("found %s documents", units.Count(total)), nil
}

// Restore counts the documents, and returns a phrase for the indices whose number has changed.
// Contenders cannot change an embedded store; an external one is not written to.
func (n *Need) Restore(ctx context.Context, _ bench.Selection) (string, error) {
	if n.store == nil || n.traits().InClient {
		return "", nil
	}
	var changed []string
	counts := map[string]int64{}
	for _, index := range n.data.Indices() {
		count, err := n.store.Count(ctx, index.Name)
		if err != nil && !errors.Is(err, store.ErrNoIndex) {
			return "", err
		}
		counts[index.Name] = count
		if before, ok := n.counts[index.Name]; ok && before != count {
			changed = append(changed, fmt.Sprintf("index %q had %s documents, now %s",
				index.Name, units.Count(before), units.Count(count)))
		}
	}
	n.counts = counts
	return strings.Join(changed, "; "), nil
}

// Rest leaves the store running.
func (n *Need) Rest(context.Context) error { return nil }

// Address returns the URL of the store for contenders, which may have a user.
func (n *Need) Address() bench.NeedAddress {
	u, err := secret.ParseURL(n.url)
	if n.url == "" || err != nil {
		return bench.NeedAddress{}
	}
	port := map[bool]string{false: "80", true: "443"}[u.Scheme == "https"]
	return bench.NeedAddress{URL: n.url, Host: u.Hostname(), Port: cmp.Or(u.Port(), port)}
}

// Alive returns an error if the store does not respond.
func (n *Need) Alive(ctx context.Context) error {
	if n.store == nil {
		return nil
	}
	return n.store.Alive(ctx)
}

// Info describes the store; before Open, the one that was chosen.
func (n *Need) Info() bench.NeedInfo {
	info := bench.NeedInfo{From: n.spec.Chosen(), URL: secret.WithoutUser(n.spec.URL)}
	if n.store != nil {
		info = n.store.Info()
	}
	info.Name, info.Latency = n.name, latency(n.spec)
	return info
}

// latency describes the latency that is added to responses; "" for none.
func latency(s store.Spec) string {
	switch {
	case s.Latency == 0:
		return ""
	case s.P99 == 0:
		return "median " + units.Duration(s.Latency)
	}
	return "median " + units.Duration(s.Latency) + ", p99 " + units.Duration(s.P99)
}

// Read reads the counters of the store.
func (n *Need) Read() *bench.NeedUsage { return n.usage.Read() }

// AddPressure makes the kernel add up the store's waiting for disks.
func (n *Need) AddPressure() { n.usage.AddPressure() }

// Close ends what Open started.
func (n *Need) Close(context.Context) error {
	if n.store == nil {
		return nil
	}
	return errors.Join(n.usage.Close(), n.store.Close())
}
