package setup

import (
	"slices"
	"strconv"
	"strings"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/contender"
)

func (f *form) selected() []bench.Selection {
	if f.choice.Contenders != nil {
		return f.choice.Contenders
	}
	return f.base.Contenders
}

// builds says what the selected contenders need before they can run; "" for nothing.
func (f *form) builds() string {
	words := []string{Build: "to build", Pull: "to pull", Cannot: "cannot run"}
	count := map[string]int{}
	for _, sel := range f.selected() {
		if kind := f.state(sel).Kind; words[kind] != "" {
			count[words[kind]]++
		}
	}
	var parts []string
	for _, word := range words[Build:] {
		if count[word] > 0 {
			parts = append(parts, strconv.Itoa(count[word])+" "+word)
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
	return contender.WithSettings(svc, own)
}

// canonical returns sel with its variant, the default one if it names none.
func (f *form) canonical(sel bench.Selection) bench.Selection {
	svc, err := contender.Find(f.facts.contenders, sel.Contender)
	if sel.Variant == "" && err == nil && len(svc.Variants) > 0 {
		sel.Variant = svc.Variants[0].Name
	}
	return sel
}

// short names a default variant by its contender only, as in tables and charts.
func (f *form) short(sel bench.Selection) bench.Selection {
	if short := (bench.Selection{Contender: sel.Contender}); f.canonical(short) == sel {
		return short
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

// chosen reports whether a contender is selected.
func (f *form) chosen(sel bench.Selection) bool { return f.indexOf(sel) >= 0 }

func (f *form) indexOf(sel bench.Selection) int {
	return slices.IndexFunc(f.selected(), func(other bench.Selection) bool {
		return f.canonical(other) == f.canonical(sel)
	})
}

// toggle selects a contender, or removes it. The profile's contenders come first, in its order,
// then the others in that of the list; those of the profile do not count as a change.
func (f *form) toggle(sel bench.Selection) {
	all := append([]bench.Selection{}, f.selected()...)
	if at := f.indexOf(sel); at >= 0 {
		all = slices.Delete(all, at, at+1)
	} else {
		order := slices.Clone(f.base.Contenders)
		for _, r := range f.allContenders() {
			order = append(order, f.short(r.sel))
		}
		place := func(sel bench.Selection) int { return slices.Index(order, sel) }
		all = append(all, f.short(sel))
		slices.SortStableFunc(all, func(a, b bench.Selection) int { return place(a) - place(b) })
	}
	f.choice.Contenders = all
	if slices.Equal(all, f.base.Contenders) {
		f.choice.Contenders = nil
	}
}
