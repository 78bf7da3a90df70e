// Package elasticsearch is the need for an Elasticsearch with the data set of the locations
// service.
package elasticsearch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/host/hostusage"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/needs/container"
	"github.com/locbench/locbench/internal/needs/relay"
	"github.com/locbench/locbench/internal/store/dataset"
	"github.com/locbench/locbench/internal/store/embedded"
	"github.com/locbench/locbench/internal/store/seed"
	"github.com/locbench/locbench/internal/text/contact"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/secret"
)

// Name is the name of the need in profiles and results.
const Name = "elasticsearch"

// Data is the data set of the locations service.
type Data struct{ dataset.Set }

// find finds the store and the data set of a profile. Requests may use the data without the store.
func find(n bench.NeedSpec, _ bench.Profile, url string) (found needs.Found, err error) {
	of := specOf(n)
	set, err := dataset.Open(of.Cities.set())
	if err != nil {
		return found, err
	}
	found.Data = Data{set}
	if !n.From.Traits().None {
		found.Elsewhere = "--store container or --elastic http://HOST:9200"
		if n.From.Traits().Container {
			found.Elsewhere = "--store embedded"
		}
		found.Need = &Need{name: n.Name, from: chosen(n.From, url), spec: of, data: set, server: server{url: url}}
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
	from bench.NeedOrigin
	spec spec
	data dataset.Set

	// Open sets these.
	server
	seen      string // URL for contenders
	warn      func(bench.Warning)
	embedded  *embedded.Server
	container *container.Need
	relay     func() error // ends it; nil: there is none
	usage     *hostusage.Counters
	opened    bool
	counts    map[string]int64 // documents per index at the last call of Restore
}

// starters open a need, by its origin: they make it respond, and reachable for contenders.
var starters = map[bench.NeedOrigin]func(*Need, context.Context, needs.Place) error{
	bench.NeedEmbedded: (*Need).embed, bench.NeedExternal: (*Need).reach, bench.NeedContainer: (*Need).start,
}

// Open opens the store and makes it reachable for contenders.
func (n *Need) Open(ctx context.Context, at needs.Place) error {
	n.warn = at.Warn
	start, ok := starters[n.from]
	if !ok {
		return fmt.Errorf("unknown store %q", n.from)
	}
	if err := start(n, ctx, at); err != nil {
		return errors.Join(err, n.Close(context.WithoutCancel(ctx)))
	}
	n.opened = true
	return nil
}

// embed starts one in this process.
func (n *Need) embed(_ context.Context, at needs.Place) (err error) {
	n.embedded = embedded.New(embedded.Options{Latency: n.spec.Latency, P99: n.spec.P99, Seed: at.Seed})
	n.version, n.usage = embedded.Version+" (embedded)", hostusage.Embedded(n.embedded.Work)
	listen := func(host string, peers []netip.Prefix, names ...string) (string, error) {
		l, err := relay.Listen(net.JoinHostPort(host, "0"), peers...)
		if err != nil {
			return "", fmt.Errorf("open embedded store: %w", err)
		}
		return n.embedded.Serve(l, names...)
	}
	if n.url, err = listen("127.0.0.1", nil); err != nil {
		return err
	}
	switch to := at.Network; {
	case to.Host == "":
		n.seen = n.url
	case to.Named: // its gateway forwards the name to the loopback interface
		if n.seen, err = listen("127.0.0.1", nil, to.Host); err == nil {
			n.seen = onHost(n.seen, to.Host)
		}
	default:
		n.seen, err = listen(to.Host, to.Peers)
	}
	return err
}

// reach connects to an external one. One that listens only on the loopback interface is relayed.
func (n *Need) reach(ctx context.Context, at needs.Place) (err error) {
	if n.server, err = reach(ctx, n.url); err != nil {
		return err
	}
	if n.usage, err = hostusage.Address(n.url); err != nil {
		n.usage = nil
	}
	n.seen = n.url
	to := at.Network
	switch {
	case to.Host == "" || !contact.OnLoopback(n.url):
		return nil
	case to.Named:
		n.seen = onHost(n.url, to.Host)
		return nil
	}
	if n.seen = n.listensAt(ctx, to.Host); n.seen != "" {
		return nil
	}
	address, end, err := relay.To(hostPort(n.url), to.Host, to.Peers...)
	if err != nil {
		return fmt.Errorf("let containers reach %s: relay to the store: %w", Name, err)
	}
	n.seen, n.relay = withHost(n.url, address), end
	return nil
}

// defaultImage is the official image; a profile may name another.
const defaultImage = "elasticsearch:7.17.28"

// start starts the official image.
func (n *Need) start(ctx context.Context, at needs.Place) error {
	n.container = container.Kept(n.name, cmp.Or(n.spec.Image, defaultImage), Name, map[string]string{
		"ES_JAVA_OPTS": "-Xms1g -Xmx1g", "ingest.geoip.downloader.enabled": "false", // its network is its own
	})
	if err := n.container.Open(ctx, at); err != nil {
		return err
	}
	n.url, n.seen = "http://"+n.container.Local(), n.container.Address().URL
	return n.greet(ctx)
}

// Seed gives this run's own store its data. It only verifies those of an external store: only
// 'locbench seed' writes to that.
func (n *Need) Seed(ctx context.Context, progress func(bench.Progress)) (string, error) {
	if n.from.Traits().ByURL {
		return n.verify(ctx)
	}
	var total int64
	for _, i := range n.data.Indices() {
		total += i.Count
	}
	report := func(done int64) { progress(bench.Progress{Done: done, Total: total, Unit: "documents"}) }
	var err error
	if n.embedded != nil {
		err = n.embedded.Fill(ctx, n.data, report)
	} else {
		err = n.seed(ctx, report)
	}
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s data, %s documents", n.data.Info().Name, units.Count(total)), nil
}

// seed seeds this run's own store over HTTP, and makes it read-only.
func (n *Need) seed(ctx context.Context, report func(done int64)) error {
	if err := n.seal(ctx, false); err != nil { // --resume finds it read-only
		return err
	}
	res, err := seed.Run(ctx, seed.Options{URL: n.url, Set: n.data, OnProgress: func(p seed.Progress) { report(p.Done) }})
	if err != nil {
		return err
	}
	for _, w := range res.Warnings {
		n.warn(w)
	}
	return n.seal(ctx, true)
}

// verify compares the number of documents of each index with the data set's. Other numbers are a
// warning, since the user may intend them; an empty index is an error.
func (n *Need) verify(ctx context.Context) (string, error) {
	var total int64
	command := safe.Shell([]string{"locbench", "seed", "--elastic", secret.WithoutUser(n.url)})
	for _, index := range n.data.Indices() {
		count, err := n.count(ctx, index.Name)
		if err != nil {
			return "", err
		}
		if count == 0 {
			return "", fmt.Errorf("the index %q of %s is empty; seed it with: %s", index.Name, Name, command)
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
	if !n.opened || n.embedded != nil {
		return "", nil
	}
	var changed []string
	counts := map[string]int64{}
	for _, index := range n.data.Indices() {
		count, err := n.count(ctx, index.Name)
		if err != nil {
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
	if n.seen == "" {
		return bench.NeedAddress{}
	}
	host, port, _ := net.SplitHostPort(hostPort(n.seen))
	return bench.NeedAddress{URL: n.seen, Host: host, Port: port}
}

// Alive returns an error if the store does not respond.
func (n *Need) Alive(ctx context.Context) error {
	if !n.opened {
		return nil
	}
	if n.container != nil {
		if err := n.container.Alive(ctx); err != nil {
			return err
		}
	}
	return n.alive(ctx)
}

// Info describes the store; before Open, the one that was chosen.
func (n *Need) Info() bench.NeedInfo {
	info := bench.NeedInfo{Name: n.name, From: n.from, URL: secret.WithoutUser(n.url), Version: n.version}
	if n.seen != n.url {
		info.Seen = secret.WithoutUser(n.seen)
	}
	if n.spec.Latency != 0 {
		info.Latency = "median " + units.Duration(n.spec.Latency)
	}
	if n.spec.P99 != 0 {
		info.Latency += ", p99 " + units.Duration(n.spec.P99)
	}
	return info
}

// Read reads the counters of the store.
func (n *Need) Read() *bench.NeedUsage {
	if n.container != nil {
		return n.container.Read()
	}
	return n.usage.Read()
}

// AddPressure makes the kernel add up the store's waiting for disks.
func (n *Need) AddPressure() bool {
	if n.container != nil {
		return n.container.AddPressure()
	}
	return n.usage.AddPressure()
}

// Close ends what Open started.
func (n *Need) Close(ctx context.Context) error {
	errs := []error{n.usage.Close()}
	if n.relay != nil {
		errs = append(errs, n.relay())
		n.relay = nil
	}
	if n.embedded != nil {
		errs = append(errs, n.embedded.Close())
	}
	if n.container != nil {
		errs = append(errs, n.container.Close(ctx))
	}
	return errors.Join(errs...)
}
