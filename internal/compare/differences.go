package compare

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"locbench/internal/bench"
	"locbench/internal/units"
)

// Weight says what a difference does to a comparison.
type Weight string

// The weights, the gravest first.
const (
	Breaks Weight = "breaks" // the figures answer different questions
	Sways  Weight = "sways"  // may move the figures
	Tells  Weight = "tells"  // good to know: may be what was to be compared
)

// Difference is something that two sides do not have in common besides the contender's name.
type Difference struct {
	What   string `json:"what"`
	Old    string `json:"old"` // "" where it is not on record, or there is none
	New    string `json:"new"`
	Weight Weight `json:"weight"`
}

// Differences are what differs between two runs, the gravest first.
func Differences(a, b bench.Run) []Difference {
	d := func(what string, w Weight, of func(bench.Run) string) Difference {
		return Difference{what, of(a), of(b), w}
	}
	return gravestFirst([]Difference{
		d("limits", Breaks, func(r bench.Run) string { return limits(r.Profile.Limits) }),
		d("runtime", Breaks, func(r bench.Run) string { return string(r.Profile.Runtime) }),
		d("requests", Breaks, func(r bench.Run) string { return requests(r.Profile.Requests) }),
		d("steps", Breaks, func(r bench.Run) string { return steps(r.Profile.Steps) }),
		d("turns", Breaks, turns),
		d("rest of the profile", Breaks, restHash),
		data(a.Data, b.Data),
		d("store", Breaks, func(r bench.Run) string { return string(r.Store.Kind) }),
		d("CPU", Breaks, func(r bench.Run) string {
			return strings.TrimSpace(fmt.Sprintf("%d × %s", r.Machine.CPUs, r.Machine.CPUModel))
		}),
		d("system", Breaks, func(r bench.Run) string { return r.Machine.OS + "/" + r.Machine.Arch }),
		d("memory of the machine", Breaks, func(r bench.Run) string { return size(r.Machine.MemoryBytes) }),
		d("service started by somebody else", Breaks, func(r bench.Run) string { return r.Target }),
		d("store version", Sways, func(r bench.Run) string { return r.Store.Version }),
		d("store address", Sways, func(r bench.Run) string {
			if !r.Store.Kind.Traits().ByURL {
				return "" // our own: any free port
			}
			return r.Store.URL
		}),
		d("protocol", Breaks, func(r bench.Run) string { return string(r.Profile.Protocol) }),
		d("time-out of a request", Sways, func(r bench.Run) string { return units.Duration(r.Profile.Timeout) }),
		d("answers compared", Sways, func(r bench.Run) string { return fmt.Sprintf("%g %%", 100*r.Profile.Validate) }),
		d("load of the machine before the run", Sways, func(r bench.Run) string { return r.Machine.Load1 }),
		d("kernel", Sways, func(r bench.Run) string { return r.Machine.Kernel }),
		d("CPU governor", Sways, func(r bench.Run) string { return r.Machine.Governor }),
		stated(d("turbo", Sways, func(r bench.Run) string { return r.Machine.Turbo })),
		stated(d("SMT", Sways, func(r bench.Run) string { return r.Machine.SMT })),
		stated(d("virtualisation", Sways, virtual)),
		d("swap in use", Sways, func(r bench.Run) string { return swap(r.Machine.SwapUsed) }),
		d("other containers", Sways, func(r bench.Run) string { return r.Machine.OtherContainers }),
		d("who runs on which CPUs", Sways, apart),
		d("cgroup version", Sways, func(r bench.Run) string { return number(r.Machine.CgroupVersion) }),
		d("locbench", Sways, func(r bench.Run) string { return r.Software.Locbench }),
		d("Docker", Sways, func(r bench.Run) string { return r.Software.Docker }),
		d("contenders of the run", Tells, func(r bench.Run) string { return number(len(r.Profile.Contenders)) }),
		d("Go", Tells, func(r bench.Run) string { return r.Software.Go }),
		d("hash of the profile", Tells, func(r bench.Run) string { return ProfileHash(r.Profile) }),
	})
}

// data tells by the hash of the content where both have one: the same data may be in another
// folder.
func data(a, b bench.DataInfo) Difference {
	d := Difference{"data", strings.TrimSpace(a.Name + " " + short(a.Hash)), strings.TrimSpace(b.Name + " " + short(b.Hash)), Breaks}
	if a.Hash != "" && a.Hash == b.Hash {
		d.New = d.Old
	}
	return d
}

// ProfileHash is of all that decides about a contender's figures and is the profile's: not of the
// names, the contenders, the rounds, the price, the checks and the thresholds, nor of where the
// store is. (What a threshold has cut short is on record with the steps.)
func ProfileHash(p bench.Profile) string {
	p.Thresholds = nil
	p.Name, p.Title, p.Description, p.Contenders, p.Rounds, p.PriceVCPUHr, p.Checks = "", "", "", nil, 0, 0, bench.CheckSpec{}
	p.Store.URL = ""
	return hash(p)
}

// restHash is of what no other difference names, so that a part of the profile which is new does
// not go unseen.
func restHash(r bench.Run) string {
	p := r.Profile
	p.Limits, p.Runtime, p.Requests, p.Steps, p.Data, p.Store.Kind, p.Protocol, p.Timeout, p.Validate, p.Turns = bench.Limits{}, "", nil, nil, bench.DataSpec{}, "", "", 0, 0, 0
	return ProfileHash(p)
}

func turns(r bench.Run) string {
	if r.Profile.Turns <= 0 {
		return "none"
	}
	return units.Duration(r.Profile.Turns)
}

func requests(rs []bench.Request) string {
	if len(rs) == 0 {
		return ""
	}
	return fmt.Sprintf("%d, hash %s", len(rs), hash(rs))
}

// steps are written out: what differs is seen at once.
func steps(all []bench.Step) string {
	var parts []string
	for _, s := range all {
		parts = append(parts, fmt.Sprintf("%s for %s", s.Title(), units.Duration(s.Duration)))
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, ", ") + ", hash " + hash(all)
}

// hash is the beginning of the SHA-256 of v's JSON; "" for a value that JSON does not know, such as
// an infinite rate.
func hash(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return short(hex.EncodeToString(sum[:]))
}

// LegDifferences are between how two contenders really ran, and what was started, the gravest
// first.
func LegDifferences(a, b []bench.LegResult) []Difference {
	d := func(what string, w Weight, of func(bench.LegResult) string) Difference {
		old, fresh := known(a, of), known(b, of)
		if old == "" || fresh == "" {
			return Difference{} // one does not tell
		}
		return Difference{what, old, fresh, w}
	}
	return gravestFirst([]Difference{
		d("measured step", Breaks, func(l bench.LegResult) string {
			if d, ok := l.Definition(); ok {
				return d.String()
			}
			return ""
		}),
		d("runtime in use", Breaks, instance(func(i bench.InstanceInfo) string { return string(i.Runtime) })),
		d("limits in use", Breaks, instance(func(i bench.InstanceInfo) string { return limits(i.Limits) })),
		d("limits enforced", Breaks, instance(func(i bench.InstanceInfo) string {
			if i.LimitsEnforced {
				return "yes"
			}
			return "no"
		})),
		d("CPU set", Sways, instance(func(i bench.InstanceInfo) string { return i.CPUSet })),
		d("version", Tells, func(l bench.LegResult) string { return l.Service.Version }),
		d("sources", Tells, func(l bench.LegResult) string { return short(l.Artifact.Sources) }),
		d("framework", Tells, func(l bench.LegResult) string { return l.Service.Framework }),
		d("language version", Tells, func(l bench.LegResult) string { return l.Service.LanguageVersion }),
		d("image", Tells, instance(func(i bench.InstanceInfo) string { return short(strings.TrimPrefix(i.ImageID, "sha256:")) })),
	})
}

func instance(of func(bench.InstanceInfo) string) func(bench.LegResult) string {
	return func(l bench.LegResult) string {
		if l.Instance == nil {
			return ""
		}
		return of(*l.Instance)
	}
}

// known is what the legs say, each other answer once: "0-1, 2-3" where the rounds differ.
func known(legs []bench.LegResult, of func(bench.LegResult) string) string {
	var all []string
	for _, l := range legs {
		if v := of(l); v != "" && !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

func gravestFirst(candidates []Difference) (out []Difference) {
	for _, w := range []Weight{Breaks, Sways, Tells} {
		for _, d := range candidates {
			if d.Weight == w && d.Old != d.New {
				out = append(out, d)
			}
		}
	}
	return out
}

// Breaking names the differences that break a comparison: "other limits (1 CPU → 2 CPUs)"; "" where
// none does.
func Breaking(differences []Difference) string {
	var parts []string
	for _, d := range differences {
		if d.Weight == Breaks {
			parts = append(parts, "other "+d.String())
		}
	}
	return strings.Join(parts, ", ")
}

// String is what differs, and how.
func (d Difference) String() string {
	return fmt.Sprintf("%s (%s → %s)", d.What, cmp.Or(d.Old, "none"), cmp.Or(d.New, "none"))
}

func limits(l bench.Limits) string {
	var parts []string
	if l.CPUs > 0 {
		parts = append(parts, units.CPUs(l.CPUs))
	}
	if l.CPUSet > 0 {
		parts = append(parts, fmt.Sprintf("set of %d", l.CPUSet))
	}
	if l.Memory > 0 {
		parts = append(parts, units.Bytes(l.Memory))
	}
	if l.PIDs > 0 {
		parts = append(parts, fmt.Sprintf("%d processes", l.PIDs))
	}
	return cmp.Or(strings.Join(parts, ", "), "none")
}

func size(n int64) string {
	if n <= 0 {
		return ""
	}
	return units.Bytes(n)
}

// stated leaves out what one side does not tell, as results of earlier versions do.
func stated(d Difference) Difference {
	if d.Old == "" || d.New == "" {
		return Difference{}
	}
	return d
}

func virtual(r bench.Run) string {
	if r.Machine.Virtual == "" && r.Machine.SMT != "" { // a version that looks, and has found nothing
		return "none to be seen"
	}
	return r.Machine.Virtual
}

// apart is "" where all share the CPUs, whatever the reason, as it always was in earlier versions.
func apart(r bench.Run) string {
	if r.Isolated == nil || !r.Isolated.Separate {
		return ""
	}
	return r.Isolated.Text
}

// swap is reported in steps that may matter: some pages that lie there for ever do not.
func swap(used *int64) string {
	if used == nil || *used < 64<<20 {
		return ""
	}
	return units.Bytes(*used)
}

func number(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// short is the beginning of a hash, enough to tell two apart.
func short(hash string) string {
	if len(hash) > 12 {
		return hash[:12]
	}
	return hash
}
