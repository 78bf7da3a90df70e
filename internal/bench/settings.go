package bench

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/locbench/locbench/internal/bench/units"
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

// Machine describes the machine that a run was made on, and its state before the run.
type Machine struct {
	OS            string `json:"os"`
	Arch          string `json:"arch"`
	Kernel        string `json:"kernel,omitempty"`
	CPUModel      string `json:"cpu_model,omitempty"`
	CPUs          int    `json:"cpus"`
	MemoryBytes   int64  `json:"memory_bytes,omitempty"`
	Governor      string `json:"governor,omitempty"`
	CgroupVersion int    `json:"cgroup_version,omitempty"` // 1 or 2; 0: not known
	Load1         string `json:"load_1m,omitempty"`        // load average over 1 minute before the run
	Turbo         string `json:"turbo,omitempty"`          // on, off
	SMT           string `json:"smt,omitempty"`            // on, off
	// hypervisor or container system that runs this machine; absent: none detected
	Virtual  string `json:"virtual,omitempty"`
	SwapUsed *int64 `json:"swap_used_bytes,omitempty"`
	// number of times CPUs were throttled for heat since the machine was started
	Throttles *int64 `json:"thermal_throttles,omitempty"`

	// containers of others that ran before the run: the number, and some names
	OtherContainers string `json:"other_containers,omitempty"`
}

// Software lists the versions of the software around the contenders.
type Software struct {
	Locbench  string `json:"locbench"`
	Commit    string `json:"locbench_commit,omitempty"`
	Date      string `json:"locbench_date,omitempty"` // of the commit, RFC 3339
	Go        string `json:"go"`
	Docker    string `json:"docker,omitempty"`
	DockerAPI string `json:"docker_api,omitempty"`
}

// NeedInfo describes a service that the contenders need.
type NeedInfo struct {
	Name    string     `json:"name"`
	Service string     `json:"service,omitempty"` // the contender that has it for itself; "": it is shared
	From    NeedOrigin `json:"from"`
	URL     string     `json:"url,omitempty"` // URL for this machine, without user info
	Seen    string     `json:"seen_by_contender,omitempty"`
	Version string     `json:"version,omitempty"`
	Latency string     `json:"latency,omitempty"` // that is added to its responses, in words
}

// Label returns the name of the need: "db", or "db of bookings".
func (n NeedInfo) Label() string { return needLabel(n.Name, n.Service) }

// String returns a phrase: "search: embedded, 7.10.2".
func (n NeedInfo) String() string { return n.Label() + ": " + string(n.From) + ", " + n.Version }

// DataInfo describes the data that the requests of a run use.
type DataInfo struct {
	Name string `json:"name"`           // "bundled", "generated 100000 × 60, seed 1", or the folder
	Size string `json:"size,omitempty"` // how much it is, in words
	Hash string `json:"hash,omitempty"` // hash of the content
}

// String lists the limits: "0.5 CPUs, 512 MiB"; "" for none.
func (l Limits) String() string {
	var parts []string
	add := func(is bool, text string) {
		if is {
			parts = append(parts, text)
		}
	}
	add(l.CPUs > 0, units.CPUs(l.CPUs))
	add(l.CPUSet > 0, fmt.Sprintf("set of %d", l.CPUSet))
	add(l.Memory > 0, units.Bytes(l.Memory))
	add(l.PIDs > 0, units.Plural(l.PIDs, "process"))
	return strings.Join(parts, ", ")
}

// Words returns String; "no limit" for none.
func (l Limits) Words() string { return cmp.Or(l.String(), "no limit") }

// Own returns the limits that differ from those of others, alone; those that are equal become 0.
func (l Limits) Own(others Limits) Limits {
	if l.CPUs == others.CPUs {
		l.CPUs = 0
	}
	if l.CPUSet == others.CPUSet {
		l.CPUSet = 0
	}
	if l.Memory == others.Memory {
		l.Memory = 0
	}
	if l.PIDs == others.PIDs {
		l.PIDs = 0
	}
	return l
}
