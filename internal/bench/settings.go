package bench

import (
	"cmp"
	"maps"
	"slices"
)

// Settings are what a profile sets for one of its contenders, next to the manifest and the limits
// of all. Zero fields set nothing.
type Settings struct {
	// the contender as the run names it: its variant is the name that the profile gives it
	Selection `json:"contender"`
	Base      *string `json:"base,omitempty"` // its variant in the manifest, "" for the default; nil: Variant

	Limits Limits `json:"limits,omitzero"`
	// in addition to the manifest's and the variant's
	Env map[string]string `json:"env,omitempty" yaml:"env" strict:"max=200"`
	// an existing image, instead of building one
	Image string `json:"image,omitempty" yaml:"image" strict:"min=1,max=500"`
	// folder with the manifest and the sources of this contender
	Dir string `json:"dir,omitempty" yaml:"dir" strict:"min=1,max=4096"`
}

// InManifest returns the contender and variant that the settings change.
func (s Settings) InManifest() Selection {
	if s.Base == nil {
		return s.Selection
	}
	return Selection{s.Contender, *s.Base}
}

// SettingsOf returns the settings of a contender; without any, those that set nothing.
func (p Profile) SettingsOf(sel Selection) Settings {
	if i := slices.IndexFunc(p.Settings, func(s Settings) bool { return s.Selection == sel }); i >= 0 {
		return p.Settings[i]
	}
	return Settings{Selection: sel}
}

// EnvNames returns the environment variables that the profile takes, each once: of requests, of
// contenders and of needs.
func (p Profile) EnvNames() []string {
	var names []string
	for _, r := range p.Every() {
		names = append(names, r.EnvNames()...)
	}
	for _, s := range p.Settings {
		for _, key := range slices.Sorted(maps.Keys(s.Env)) {
			names = append(names, EnvNames(s.Env[key])...)
		}
	}
	for _, n := range p.Needs {
		names = append(names, n.EnvNames()...)
	}
	return once(names)
}

// once returns the values without those that came before.
func once[T comparable](values []T) (all []T) {
	for _, v := range values {
		if !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	return all
}

// LimitsOf returns the limits of a contender: its own, where it has some, or those of all.
func (p Profile) LimitsOf(sel Selection) Limits { return p.Limits.With(p.SettingsOf(sel).Limits) }

// LimitSets returns the different limits of the contenders; those of all without contenders.
func (p Profile) LimitSets() (all []Limits) {
	for _, sel := range p.Contenders {
		all = append(all, p.LimitsOf(sel))
	}
	if len(all) == 0 {
		return []Limits{p.Limits}
	}
	return once(all)
}

// EqualLimits reports whether all contenders have the same limits.
func (p Profile) EqualLimits() bool { return len(p.LimitSets()) == 1 }

// Under returns the limits of a contender by which the contenders of the profile differ, in words:
// "under 0.5 CPUs"; "" if all have the same.
func (p Profile) Under(sel Selection) string {
	if p.EqualLimits() {
		return ""
	}
	return "under " + p.OwnLimits(sel).Words()
}

// OwnLimits returns the limits of a contender that another contender of the profile does not have.
func (p Profile) OwnLimits(sel Selection) (differ Limits) {
	own := p.LimitsOf(sel)
	for _, other := range p.Contenders {
		differ = differ.With(own.Own(p.LimitsOf(other)))
	}
	return differ
}

// With returns the limits with those of own instead, where own has some.
func (l Limits) With(own Limits) Limits {
	l.CPUs, l.CPUSet = cmp.Or(own.CPUs, l.CPUs), cmp.Or(own.CPUSet, l.CPUSet)
	l.Memory, l.PIDs = cmp.Or(own.Memory, l.Memory), cmp.Or(own.PIDs, l.PIDs)
	return l
}

// Selection returns the contender of the trial.
func (t Trial) Selection() Selection { return Selection{t.Contender, t.Variant} }
