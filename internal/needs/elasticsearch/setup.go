package elasticsearch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/store"
	"github.com/locbench/locbench/internal/store/dataset"
)

// Fields and options, by name.
const (
	fieldStore, fieldElastic, fieldData, fieldCities, fieldDump = "store", "elastic", "kind of data", "cities", "data"

	dataGenerated, dataDump = "generated", "dump"

	// localURL is that of an Elasticsearch that may run on this machine already.
	localURL = "http://127.0.0.1:9200"
	// firstCities is the number of generated cities until the user changes it.
	firstCities = "10000"
)

var (
	ofStore = []string{"store", "elastic"}
	ofData  = []string{"data", "cities", "vertices", "data-seed"}

	setup = needs.Setup{Fields: fields, Likely: localURL, URL: chosenURL, Problems: problems}

	fields = []needs.Field{
		{
			Name: fieldStore, Options: ofStore, Get: func(f needs.Form) string { return string(chosen(f)) }, Set: choose,
			Choices: choices, Note: resolved,
		},
		{
			Name: fieldElastic, Options: ofStore, Note: found, Set: setElastic,
			Hidden: func(f needs.Form) bool { return !external(f) },
		},
		{
			Name: fieldData, Label: "Data", Options: ofData, Get: kindOfData, Set: chooseData,
			Help: "The data in the store. Check suite locations needs the bundled data and is skipped with any other.",
			Choices: func(needs.Form) []needs.Choice {
				return []needs.Choice{
					{Value: bundled, Help: "14,945 real cities of five countries"},
					{Value: dataGenerated, Help: "generated cities, any number"}, {Value: dataDump, Help: "your own folder"},
				}
			},
		},
		{
			Name: fieldCities, Options: ofData, Required: true,
			Hidden: func(f needs.Form) bool { return kindOfData(f) != dataGenerated },
		},
		{
			Name: fieldDump, Options: ofData, Required: true,
			Hidden: func(f needs.Form) bool { return kindOfData(f) != dataDump },
		},
	}
)

func choices(f needs.Form) (all []needs.Choice) {
	for _, o := range origins {
		if none := bench.NeedNone; o.of != none || chosen(f) == none {
			all = append(all, needs.Choice{Value: string(o.of), Help: o.help})
		}
	}
	return all
}

// chosen returns where the store comes from; with a URL it is an external one.
func chosen(f needs.Form) bench.NeedOrigin {
	n := f.Need()
	from, given := f.Given(fieldStore)
	if url, _ := f.Given(fieldElastic); url != "" || given {
		n = bench.NeedSpec{From: bench.NeedOrigin(from), URL: url}
	}
	return bench.NeedOrigin(originOption(n))
}

// resolved is what "auto" stands for.
func resolved(f needs.Form) string {
	from := chosen(f)
	if to := (store.Spec{From: from}).Chosen(); from != "" && to != from {
		return string(to)
	}
	return ""
}

func external(f needs.Form) bool { return chosen(f) == bench.NeedExternal }

func chosenURL(f needs.Form) string {
	if !external(f) {
		return ""
	}
	return f.Option(fieldElastic)
}

func found(f needs.Form) string {
	url := chosenURL(f)
	p, known := f.Probed(url)
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

// choose sets where the store comes from; the URL of an external one returns with it.
func choose(f needs.Form, from string) {
	url := f.Last(fieldElastic)
	f.Unset(ofStore...)
	if from != string(chosen(f)) {
		f.Give(fieldStore, from)
	}
	if from == string(bench.NeedExternal) && url != "" && f.Need().URL == "" {
		setElastic(f, url)
	}
}

// setElastic sets the URL, which implies an external store.
func setElastic(f needs.Form, url string) {
	f.Unset(ofStore...)
	switch {
	case url == "" && f.Need().From != bench.NeedExternal:
		f.Give(fieldStore, string(bench.NeedExternal))
	case url != "" && url != f.Need().URL:
		f.Give(fieldElastic, url)
	}
}

func kindOfData(f needs.Form) string {
	dir, given := f.Given(fieldDump)
	_, generated := f.Given(fieldCities)
	of := specOf(f.Need()).Cities
	switch {
	case generated:
		return dataGenerated
	case given && dir == bundled:
		return bundled
	case given, of.Dir != "":
		return dataDump
	case of.Count > 0:
		return dataGenerated
	}
	return bundled
}

func chooseData(f needs.Form, kind string) {
	f.Unset(ofData...)
	switch {
	case kind == kindOfData(f):
	case kind == bundled:
		f.Give(fieldDump, bundled)
	case kind == dataGenerated:
		f.Give(fieldCities, firstCities)
	case kind == dataDump:
		f.Give(fieldDump, "")
	}
}

func problems(f needs.Form) (all []needs.Problem) {
	bad := func(field, text string, fixes ...needs.Fix) {
		all = append(all, needs.Problem{Field: field, Text: text, Bad: true, Fixes: fixes})
	}
	if why, _ := f.NoEngine(); why != "" && chosen(f) == bench.NeedContainer {
		bad(fieldStore, "no Docker engine for the store: "+why, others(f)...)
	}
	if !external(f) || f.Wrong(fieldElastic) {
		return all
	}
	url := chosenURL(f)
	if url == "" {
		return append(all, needs.Problem{Field: fieldElastic, Text: "needs an Elasticsearch 7 URL", Bad: true, Input: true, Fixes: others(f)})
	}
	p, known := f.Probed(url)
	switch {
	case !known:
		return all
	case p.Err != nil:
		bad(fieldElastic, p.Err.Error(), others(f)...)
		return all
	}
	if p.Warning != "" {
		all = append(all, needs.Problem{Field: fieldElastic, Text: p.Warning, Fixes: others(f)})
	}
	count, generated := f.Option(fieldCities), kindOfData(f) == dataGenerated
	seed := needs.Fix{Text: "copy the seed command", Copy: []string{"seed", "--elastic", url}}
	if generated {
		seed.Copy = append(seed.Copy, "--cities", count)
	}
	if p.Size == 0 && kindOfData(f) != dataDump {
		bad(fieldElastic, "this Elasticsearch has no cities", append([]needs.Fix{seed}, others(f)...)...)
	}
	if n, err := strconv.ParseInt(count, 10, 64); err == nil && generated && p.Size > 0 && p.Size != n {
		all = append(all, needs.Problem{Field: fieldCities, Fixes: []needs.Fix{seed}, Text: fmt.Sprintf(
			"this Elasticsearch has %s cities, not %s: ids may be missing", units.Count(p.Size), units.Count(n))})
	}
	return all
}

// others returns fixes for a store that is not available.
func others(f needs.Form) (all []needs.Fix) {
	if p, known := f.Probed(localURL); known && p.Err == nil && chosenURL(f) != localURL {
		all = append(all, needs.Fix{Text: "use Elasticsearch " + p.Version + " at " + localURL, Change: func() { setElastic(f, localURL) }})
	}
	to := func(text string, from bench.NeedOrigin) needs.Fix {
		return needs.Fix{Text: text, Change: func() { choose(f, string(from)) }}
	}
	all = append(all, to("use embedded store", bench.NeedEmbedded))
	if _, responds := f.NoEngine(); responds && chosen(f) != bench.NeedContainer {
		all = append(all, to("start a container", bench.NeedContainer))
	}
	return all
}

// probe opens the store as a run would, for both to report the same.
func probe(ctx context.Context, url string) (p needs.Probe) {
	s, err := store.Open(ctx, store.Spec{From: bench.NeedExternal, URL: url}, store.Options{})
	if err != nil {
		return needs.Probe{Err: err}
	}
	p.Version, p.Warning = s.Info().Version, s.Warnings().Join("; ")
	p.Remedy = "use version 7; the contenders' queries need it"
	if p.Size, err = s.Count(ctx, dataset.CityIndex); errors.Is(err, store.ErrNoIndex) {
		p.Size, err = 0, nil
	}
	p.Err = cmp.Or(err, s.Close())
	return p
}
