package setup

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/needs/elasticsearch"
	"github.com/locbench/locbench/internal/show/tui/ui"
	"github.com/locbench/locbench/internal/text/secret"
)

// Fields and options of the Elasticsearch of a profile, by name.
const (
	fieldStore, fieldElastic, fieldData, fieldCities, fieldDump = "store", "elastic", "kind of data", "cities", "data"

	dataGenerated, dataDump = "generated", "dump"

	// likelyStore is the URL of an Elasticsearch that may run on this machine already.
	likelyStore = "http://127.0.0.1:9200"
	// firstCities is the number of generated cities until the user changes it.
	firstCities = "10000"
)

var (
	ofStore = []string{"store", "elastic"}
	ofData  = []string{"data", "cities", "vertices", "data-seed"}
)

// storeFields returns the fields of the Elasticsearch, which a profile without one hides.
func storeFields() []Field {
	all := []Field{
		{
			Name: fieldStore, Key: ofStore, Get: func(f *form) string { return string(storeFrom(f)) }, Set: chooseStore,
			Choices: storeChoices, Note: storeAuto,
		},
		{
			Name: fieldElastic, Key: ofStore, Note: storeFound, Set: setElastic, Secret: true,
			Hidden: func(f *form) bool { return !storeByURL(f) },
		},
		{
			Name: fieldData, Label: "Data", Key: ofData, Get: kindOfData, Set: chooseData,
			Help: "The data in the store. Check suite locations needs the bundled data and is skipped with any other.",
			Choices: func(*form) []choice {
				return []choice{
					{elasticsearch.Bundled, "14,945 real cities of five countries"},
					{dataGenerated, "generated cities, any number"}, {dataDump, "your own folder"},
				}
			},
		},
		{
			Name: fieldCities, Key: ofData, Needed: true,
			Hidden: func(f *form) bool { return kindOfData(f) != dataGenerated },
		},
		{
			Name: fieldDump, Key: ofData, Needed: true,
			Hidden: func(f *form) bool { return kindOfData(f) != dataDump },
		},
	}
	for i := range all {
		hidden := all[i].Hidden
		all[i].Group, all[i].Hidden = "where", func(f *form) bool { return f.storeAt() < 0 || hidden != nil && hidden(f) }
	}
	return all
}

// storeAt returns the index of the Elasticsearch in the needs of the profile; below 0 if it has none.
func (f *form) storeAt() int {
	return slices.IndexFunc(f.base.Needs, func(n bench.NeedSpec) bool { return n.Kind == elasticsearch.Name })
}

// store returns that of the profile, without options.
func (f *form) store() bench.NeedSpec {
	if i := f.storeAt(); i >= 0 {
		return f.base.Needs[i]
	}
	return bench.NeedSpec{From: bench.NeedNone}
}

func (f *form) given(option string) (string, bool) {
	return f.choice.Set.Text(option), f.choice.Set.Given(option)
}

// probed returns what the Elasticsearch at a URL says of itself; false: it is not known yet.
func (f *form) probed(url string) (needs.Probe, bool) {
	if p := f.facts.probed[url]; p != nil {
		return *p, true
	}
	return needs.Probe{}, false
}

func storeChoices(f *form) (all []choice) {
	for _, o := range elasticsearch.Origins {
		if none := bench.NeedNone; o.Of != none || storeFrom(f) == none {
			all = append(all, choice{string(o.Of), o.Help})
		}
	}
	return all
}

// storeFrom returns where the store comes from; with a URL it is an external one.
func storeFrom(f *form) bench.NeedOrigin {
	n := f.store()
	from, given := f.given(fieldStore)
	if url, _ := f.given(fieldElastic); url != "" || given {
		n = bench.NeedSpec{From: bench.NeedOrigin(from), URL: url}
	}
	return bench.NeedOrigin(elasticsearch.OriginOption(n))
}

// storeAuto is what "auto" stands for.
func storeAuto(f *form) string {
	from := storeFrom(f)
	if to := elasticsearch.Chosen(from, ""); from != "" && to != from {
		return string(to)
	}
	return ""
}

func storeByURL(f *form) bool { return storeFrom(f) == bench.NeedExternal }

func storeURL(f *form) string {
	if !storeByURL(f) {
		return ""
	}
	return f.option(fieldElastic)
}

func storeFound(f *form) string {
	url := storeURL(f)
	p, known := f.probed(url)
	switch {
	case url == "":
		return ""
	case !known:
		return "checking"
	case p.Err == nil:
		return p.Version + ", " + units.Count(p.Size) + " cities"
	}
	return ""
}

// chooseStore sets where the store comes from; the URL of an external one returns with it.
func chooseStore(f *form, from string) {
	url := cmp.Or(f.choice.Set.Text(fieldElastic), f.last[fieldElastic])
	f.unset(ofStore...)
	if from != string(storeFrom(f)) {
		f.give(fieldStore, from)
	}
	if from == string(bench.NeedExternal) && url != "" && f.store().URL == "" {
		setElastic(f, url)
	}
}

// setElastic sets the URL, which implies an external store.
func setElastic(f *form, url string) {
	f.unset(ofStore...)
	switch {
	case url == "" && f.store().From != bench.NeedExternal:
		f.give(fieldStore, string(bench.NeedExternal))
	case url != "" && url != f.store().URL:
		f.give(fieldElastic, url)
	}
}

func kindOfData(f *form) string {
	dir, given := f.given(fieldDump)
	_, generated := f.given(fieldCities)
	of := elasticsearch.CitiesOf(f.store())
	switch {
	case generated:
		return dataGenerated
	case given && dir == elasticsearch.Bundled:
		return elasticsearch.Bundled
	case given, of.Dir != "":
		return dataDump
	case of.Count > 0:
		return dataGenerated
	}
	return elasticsearch.Bundled
}

func chooseData(f *form, kind string) {
	f.unset(ofData...)
	switch {
	case kind == kindOfData(f):
	case kind == elasticsearch.Bundled:
		f.give(fieldDump, elasticsearch.Bundled)
	case kind == dataGenerated:
		f.give(fieldCities, firstCities)
	case kind == dataDump:
		f.give(fieldDump, "")
	}
}

// ofNeeds reports why a store cannot be used.
func (c *checker) ofNeeds() {
	f := c.form
	if f.storeAt() < 0 {
		return
	}
	if why := f.noEngine(); why != "" && storeFrom(f) == bench.NeedContainer {
		c.bad(fieldStore, "no Docker engine for the store: "+why, others(f)...)
	}
	if !storeByURL(f) || f.wrong[fieldElastic] != "" {
		return
	}
	url := storeURL(f)
	if url == "" {
		c.mistake(fieldElastic, "needs an Elasticsearch 7 URL", others(f)...)
		return
	}
	p, known := f.probed(url)
	switch {
	case !known:
		return
	case p.Err != nil:
		c.bad(fieldElastic, text(p.Err), others(f)...)
		return
	case p.Warning != "":
		c.warn(fieldElastic, outside(p.Warning), others(f)...)
	}
	count, generated := f.option(fieldCities), kindOfData(f) == dataGenerated
	args := []string{"--elastic", url}
	if generated {
		args = append(args, "--cities", count)
	}
	seed := fix{text: "copy the seed command", msg: ui.CopyMsg{
		Text: commandLine("seed", args), What: "command", Shown: commandLine("seed", secret.Masker{}.Args(args)),
	}}
	if p.Size == 0 && kindOfData(f) != dataDump {
		c.bad(fieldElastic, "this Elasticsearch has no cities", append([]fix{seed}, others(f)...)...)
	}
	if n, err := strconv.ParseInt(count, 10, 64); err == nil && generated && p.Size > 0 && p.Size != n {
		c.warn(fieldCities, fmt.Sprintf("this Elasticsearch has %s cities, not %s: ids may be missing",
			units.Count(p.Size), units.Count(n)), seed)
	}
}

// others returns fixes for a store that is not available.
func others(f *form) (all []fix) {
	if p, known := f.probed(likelyStore); known && p.Err == nil && storeURL(f) != likelyStore {
		all = append(all, fix{text: "use Elasticsearch " + outside(p.Version) + " at " + likelyStore, change: func() { setElastic(f, likelyStore) }})
	}
	to := func(text string, from bench.NeedOrigin) fix {
		return fix{text: text, change: func() { chooseStore(f, string(from)) }}
	}
	all = append(all, to("use embedded store", bench.NeedEmbedded))
	if f.facts.engineResponds() && storeFrom(f) != bench.NeedContainer {
		all = append(all, to("start a container", bench.NeedContainer))
	}
	return all
}

// askNeed probes the external store that was chosen, and a likely one.
func (s *Setup) askNeed() tea.Cmd {
	likely := s.probe(likelyStore)
	if s.form.wrong[fieldElastic] != "" {
		return likely
	}
	return tea.Batch(likely, s.probe(storeURL(&s.form)))
}

func (s *Setup) probe(url string) tea.Cmd {
	all := s.form.facts.probed
	if _, asked := all[url]; url == "" || asked {
		return nil
	}
	all[url] = nil
	return ask(func(ctx context.Context) action {
		p := s.options.Site.Probe(ctx, url)
		return func() tea.Cmd {
			all[url] = &p
			return nil
		}
	})
}
