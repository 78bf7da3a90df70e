package setup

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/text/secret"
)

// Names of the fields of store and data.
const (
	fieldStore   = "store"
	fieldElastic = "elastic"
	fieldData    = "kind of data"
	fieldCities  = "cities"
	fieldDump    = "data"
)

const dataBundled, dataGenerated, dataDump = profile.BundledData, "generated", "dump"

// localElastic is the URL of an Elasticsearch that may already run on this machine.
const localElastic = "http://127.0.0.1:9200"

// dataFields returns the fields of the store and the data in it.
func dataFields() []Field {
	ofStore, ofData := []string{"store", "elastic"}, []string{"data", "cities", "vertices", "data-seed"}
	return []Field{
		{
			Name: fieldStore, Group: "where", Key: ofStore, Choices: storeChoices, Note: chosenStore,
			Get: func(f *form) string { return string(f.storeKind()) }, Set: (*form).setStore,
		},
		{
			Name: fieldElastic, Group: "where", Key: ofStore, Note: elasticThere,
			Hidden: func(f *form) bool { return !f.storeKind().Traits().ByURL },
		},
		{
			Name: fieldData, Group: "where", Label: "Data", Key: ofData, Get: (*form).dataKind, Set: (*form).setData,
			Help: "The data in the store. Check suite locations needs the bundled data and is skipped with any other.",
			Choices: func(*form) []choice {
				return []choice{
					{dataBundled, "14,945 real cities of five countries"}, {dataGenerated, "generated cities, any number"},
					{dataDump, "your own folder"},
				}
			},
		},
		{
			Name: fieldCities, Group: "where", Key: ofData, Needed: true,
			Hidden: func(f *form) bool { return f.dataKind() != dataGenerated },
		},
		{
			Name: fieldDump, Group: "where", Key: ofData, Needed: true,
			Hidden: func(f *form) bool { return f.dataKind() != dataDump },
		},
	}
}

func storeChoices(f *form) (all []choice) {
	for _, kind := range bench.StoreKinds() {
		if t := bench.StoreKind(kind).Traits(); !t.None || f.storeKind().Traits().None {
			all = append(all, choice{kind, t.Help})
		}
	}
	return all
}

func chosenStore(f *form) string {
	kind := f.storeKind()
	if chosen := (bench.StoreSpec{Kind: kind}).Chosen(); kind != "" && chosen != kind {
		return string(chosen)
	}
	return ""
}

func elasticThere(f *form) string {
	switch e, asked := f.facts.elastic[f.elasticURL()]; {
	case asked && e == nil:
		return "checking"
	case asked && e.Err == nil:
		return e.Version + ", " + units.Count(e.Cities) + " cities"
	}
	return ""
}

// storeKind returns the kind of the store; with a URL it is an external one.
func (f *form) storeKind() bench.StoreKind {
	spec := f.base.Store
	if url := f.choice.Set.Text("elastic"); url != "" || f.choice.Set.Given("store") {
		spec = bench.StoreSpec{Kind: bench.StoreKind(f.choice.Set.Text("store")), URL: url}
	}
	if spec.URL != "" {
		return spec.Chosen()
	}
	return spec.Kind
}

func (f *form) elasticURL() string {
	if !f.storeKind().Traits().ByURL {
		return ""
	}
	return f.option(fieldElastic)
}

// setStore sets the kind of the store and keeps the URL of an external one for a return to it.
func (f *form) setStore(kind string) {
	f.url = cmp.Or(f.choice.Set.Text("elastic"), f.url)
	f.unset("store", "elastic")
	if kind != string(f.storeKind()) {
		f.give("store", kind)
	}
	if bench.StoreKind(kind).Traits().ByURL && f.url != "" && f.base.Store.URL == "" {
		f.give("elastic", f.url)
	}
}

func (f *form) dataKind() string {
	set, d := f.choice.Set, f.base.Data
	switch {
	case set.Given("cities"):
		return dataGenerated
	case set.Given("data") && set.Text("data") == dataBundled:
		return dataBundled
	case set.Given("data"):
		return dataDump
	case d.Dir != "":
		return dataDump
	case d.Cities > 0:
		return dataGenerated
	}
	return dataBundled
}

// firstCities is the number of generated cities until the user changes it.
const firstCities = "10000"

func (f *form) setData(kind string) {
	f.reset(f.field(fieldData))
	switch {
	case kind == f.dataKind():
	case kind == dataBundled:
		f.give("data", dataBundled)
	case kind == dataGenerated:
		f.give("cities", firstCities)
	case kind == dataDump:
		f.give("data", "")
	}
}

func (s *Setup) askElastic(url string) tea.Cmd {
	all := s.form.facts.elastic
	if _, asked := all[url]; url == "" || asked || s.form.wrong[fieldElastic] != "" {
		return nil
	}
	all[url] = nil
	return ask(func(ctx context.Context) action {
		e := s.options.Site.Elastic(ctx, url)
		return func() tea.Cmd {
			all[url] = &e
			return nil
		}
	})
}

func (c *checker) store() {
	kind := c.storeKind().Traits()
	if why := c.noEngine(); why != "" && kind.Container {
		c.bad(fieldStore, "no Docker engine for the store: "+why, c.otherStores()...)
	}
	if !kind.ByURL || c.wrong[fieldElastic] != "" {
		return
	}
	url := c.elasticURL()
	if url == "" {
		c.mistake(fieldElastic, "needs an Elasticsearch 7 URL", c.otherStores()...)
		return
	}
	e := c.facts.elastic[url]
	switch {
	case e == nil:
		return
	case e.Err != nil:
		c.bad(fieldElastic, text(e.Err), c.otherStores()...)
		return
	}
	if e.Warning != "" {
		c.warn(fieldElastic, outside(e.Warning), c.otherStores()...)
	}
	args := []string{"--elastic", url}
	if c.dataKind() == dataGenerated {
		args = append(args, "--cities", c.option(fieldCities))
	}
	seed := fix{text: "copy the seed command", msg: ui.CopyMsg{
		Text: commandLine("seed", args), What: "command", Shown: commandLine("seed", secret.Masker{}.Args(args))}}
	if e.Cities == 0 && c.dataKind() != dataDump {
		c.bad(fieldElastic, "this Elasticsearch has no cities", append([]fix{seed}, c.otherStores()...)...)
	}
	n, err := strconv.ParseInt(c.option(fieldCities), 10, 64)
	if err == nil && c.dataKind() == dataGenerated && e.Cities > 0 && e.Cities != n {
		c.warn(fieldCities, fmt.Sprintf("this Elasticsearch has %s cities, not %s: ids may be missing",
			units.Count(e.Cities), units.Count(n)), seed)
	}
}

// otherStores returns fixes for a store that is not available.
func (c *checker) otherStores() (out []fix) {
	to := func(text string, kind bench.StoreKind) fix {
		return fix{text: text, change: func() { c.setStore(string(kind)) }}
	}
	if e := c.facts.elastic[localElastic]; e != nil && e.Err == nil && c.elasticURL() != localElastic {
		out = append(out, fix{text: "use Elasticsearch " + outside(e.Version) + " at " + localElastic, change: func() {
			c.setStore(string(bench.StoreExternal))
			c.give("elastic", localElastic)
		}})
	}
	out = append(out, to("use embedded store", bench.StoreEmbedded))
	if c.facts.engineResponds() && !c.storeKind().Traits().Container {
		out = append(out, to("start a container", bench.StoreContainer))
	}
	return out
}
