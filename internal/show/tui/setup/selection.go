package setup

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender"
	"github.com/locbench/locbench/internal/text/table"
)

// builds says what the selected contenders need before they can run; "" for nothing.
func (f *form) builds() string {
	count := map[Kind]int{}
	for _, sel := range f.selected() {
		count[f.state(sel).Kind]++
	}
	var parts []string
	for _, need := range []struct {
		words string
		n     int
	}{{"cannot run", count[Cannot]}, {"to build", count[Build] + count[Stale]}, {"to pull", count[Pull]}} {
		if need.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", need.n, need.words))
		}
	}
	return strings.Join(parts, ", ")
}

// resolve returns the contender of sel, resolved for its variant.
func (f *form) resolve(sel bench.Selection) (bench.Service, error) {
	own := f.base.SettingsOf(sel)
	of := own.InManifest()
	svc, err := contender.Find(f.facts.contenders, of.Contender)
	if err != nil && own.Dir != "" { // its folder is not read before the run
		return bench.Service{Name: of.Contender, Variant: sel.Variant, Title: "from the profile's folder"}, nil
	}
	if err == nil {
		svc, err = contender.Resolve(svc, of.Variant)
	}
	if err != nil {
		return svc, err
	}
	return contender.Set(svc, own)
}

// canonical returns sel with its variant, the default one if it names none.
func (f *form) canonical(sel bench.Selection) bench.Selection {
	if sel.Variant != "" {
		return sel
	}
	if svc, err := contender.Find(f.facts.contenders, sel.Contender); err == nil && len(svc.Variants) > 0 {
		sel.Variant = svc.Variants[0].Name
	}
	return sel
}

func (f *form) state(sel bench.Selection) State {
	own := f.base.SettingsOf(sel)
	switch {
	case own.Dir != "":
		return State{Kind: Build, Why: "the profile names its folder"}
	case own.Image != "":
		return State{Kind: Ready, Why: "the profile names its image"}
	}
	return f.facts.states[f.canonical(own.InManifest())]
}

// drop removes a contender from the selected ones.
func (f *form) drop(gone bench.Selection) {
	f.choose(slices.DeleteFunc(slices.Clone(f.selected()), func(sel bench.Selection) bool {
		return f.canonical(sel) == f.canonical(gone)
	}))
}

// choose sets the contenders; those of the profile do not count as a change.
func (f *form) choose(selections []bench.Selection) {
	f.choice.Contenders = append([]bench.Selection{}, selections...)
	if slices.Equal(selections, f.base.Contenders) {
		f.choice.Contenders = nil
	}
}

func (f *form) selected() []bench.Selection {
	if f.choice.Contenders != nil {
		return f.choice.Contenders
	}
	return f.base.Contenders
}

// chosen reports whether a contender is selected.
func (f *form) chosen(sel bench.Selection) bool {
	return slices.ContainsFunc(f.selected(), func(other bench.Selection) bool {
		return f.canonical(other) == f.canonical(sel)
	})
}

// add selects a contender. A default variant is named by its contender only, as in tables and charts.
// The profile's contenders come first, in its order, then the others in that of the list.
func (f *form) add(sel bench.Selection) {
	if short := (bench.Selection{Contender: sel.Contender}); f.canonical(short) == sel {
		sel = short
	}
	var order []bench.Selection
	for _, known := range f.base.Contenders {
		order = append(order, f.canonical(known))
	}
	for _, svc := range f.facts.contenders {
		order = append(order, bench.Selection{Contender: svc.Name})
		for _, v := range svc.Variants {
			order = append(order, bench.Selection{Contender: svc.Name, Variant: v.Name})
		}
	}
	place := func(sel bench.Selection) int { return slices.Index(order, f.canonical(sel)) }
	all := append(slices.Clone(f.selected()), sel)
	slices.SortStableFunc(all, func(a, b bench.Selection) int { return place(a) - place(b) })
	f.choose(all)
}

// stateOf returns the state of a contender as a cell of a table.
func (f *form) stateOf(sel bench.Selection, svc bench.Service) table.Cell {
	state := f.state(sel)
	switch {
	case state.Kind == Cannot:
		return table.Cell{Text: state.String(), Tone: table.Bad}
	case svc.Unverified != "":
		return table.Cell{Text: "unverified", Tone: table.Notice}
	case state.Kind == Ready:
		return table.Cell{Text: state.String(), Tone: table.Good}
	}
	return table.Cell{Text: state.String()}
}
