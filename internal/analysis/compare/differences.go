package compare

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"locbench/internal/bench"
	"locbench/internal/bench/units"
)

// Weight says what a difference does to a comparison.
type Weight string

// The weights, the gravest first.
const (
	Incomparable  Weight = "breaks" // the figures answer different questions
	Relevant      Weight = "sways"  // may move the figures
	Informational Weight = "tells"  // good to know: may be what was to be compared
)

// Fact names what is on record about a side.
type Fact string

// The facts that are asked for by name.
const (
	ProfileHashed Fact = "profile hash"

	turbo          Fact = "turbo"
	smt            Fact = "SMT"
	virtualisation Fact = "virtualisation"
)

// Difference is something that two sides do not have in common besides the contender's name.
type Difference struct {
	What   Fact   `json:"what"`
	Old    string `json:"old"` // "" where it is not on record, or there is none
	New    string `json:"new"`
	Weight Weight `json:"weight"`
}

// unknown reports whether one side does not say, as results of earlier versions do not.
func (d Difference) unknown() bool { return d.Old == "" || d.New == "" }

// fact is something that is on record about one side.
type fact struct {
	what   Fact
	weight Weight
	value  string // "" where it is not on record, or there is none
}

// unlike returns the facts, each in the same place of both lists, that differ, the gravest first.
func unlike(a, b []fact) (out []Difference) {
	for i, f := range a {
		if f.value != b[i].value {
			out = append(out, Difference{f.what, f.value, b[i].value, f.weight})
		}
	}
	return gravestFirst(out)
}

// gravestFirst sorts by weight, whose names are in that order.
func gravestFirst(all []Difference) []Difference {
	slices.SortStableFunc(all, func(x, y Difference) int { return cmp.Compare(x.Weight, y.Weight) })
	return all
}

// data returns the data set (not where a run asks for none, though earlier versions have it on record) and files.
func data(r bench.Run) string {
	var all []string
	if r.Profile.UsesData() {
		all = append(all, strings.TrimSpace(r.Data.Name+" "+short(r.Data.Hash)))
	}
	for _, f := range r.Files {
		all = append(all, filepath.Base(f.File)+" "+short(f.Hash))
	}
	return strings.Join(all, ", ")
}

// Differences returns what differs between two runs, the gravest first.
func Differences(a, b bench.Run) []Difference {
	if a.Data.Hash != "" && a.Data.Hash == b.Data.Hash {
		b.Data.Name = a.Data.Name // the same data may be in another folder
	}
	stated := []Fact{turbo, smt, virtualisation}
	return slices.DeleteFunc(unlike(runFacts(a), runFacts(b)), func(d Difference) bool {
		return d.unknown() && slices.Contains(stated, d.What)
	})
}

func runFacts(r bench.Run) []fact {
	p, m := r.Profile, r.Machine
	address, swap, turns := "", "", "none"
	if r.Store.Kind.Traits().ByURL { // our own have any free port
		address = r.Store.URL
	}
	if p.Interleave > 0 {
		turns = units.Duration(p.Interleave)
	}
	if m.SwapUsed != nil { // some pages that lie there for ever do not matter
		swap = size(*m.SwapUsed, 64<<20)
	}
	return []fact{
		{"limits", Incomparable, limits(p.Limits)},
		{"runtime", Incomparable, string(p.Runtime)},
		{"requests", Incomparable, requests(p.Requests)},
		{"steps", Incomparable, steps(p.Steps)},
		{"interleaving", Incomparable, turns},
		{"other profile keys", Incomparable, restHash(p)},
		{"data", Incomparable, data(r)},
		{"store", Incomparable, string(r.Store.Kind)},
		{"store latency", Incomparable, added(p.Store)},
		{"CPU", Incomparable, strings.TrimSpace(fmt.Sprintf("%d × %s", m.CPUs, m.CPUModel))},
		{"system", Incomparable, m.OS + "/" + m.Arch},
		{"machine memory", Incomparable, size(m.MemoryBytes, 1)},
		{"target", Incomparable, targets(r)},
		{"store version", Relevant, r.Store.Version},
		{"store address", Relevant, address},
		{"protocol", Incomparable, string(p.Protocol)},
		{"request timeout", Relevant, units.Duration(p.Timeout)},
		{"bodies compared", Relevant, fmt.Sprintf("%g%%", 100*p.CompareBodies)},
		{"load before the run", Relevant, m.Load1},
		{"kernel", Relevant, m.Kernel},
		{"CPU governor", Relevant, m.Governor},
		{turbo, Relevant, m.Turbo},
		{smt, Relevant, m.SMT},
		{virtualisation, Relevant, virtual(m)},
		{"swap in use", Relevant, swap},
		{"other containers", Relevant, m.OtherContainers},
		{"CPU assignment", Relevant, apart(r.Isolated)},
		{"cgroup version", Relevant, number(m.CgroupVersion)},
		{"locbench", Relevant, r.Software.Locbench},
		{"Docker", Relevant, r.Software.Docker},
		{"contenders", Informational, number(len(p.Contenders))},
		{"Go", Informational, r.Software.Go},
		{ProfileHashed, Informational, ProfileHash(p)},
	}
}

// ProfileHash is of all of the profile that decides about a contender's figures. (What a threshold
// has cut short is on record with the steps.)
func ProfileHash(p bench.Profile) string {
	p.Thresholds = nil
	p.Name, p.Title, p.Description, p.Contenders, p.Rounds, p.PriceVCPUHr, p.Checks = "", "", "", nil, 0, 0,
		bench.CheckSpec{}
	p.Store.URL = ""
	p.Variables = slices.Clone(p.Variables) // their files may be in another folder
	for i := range p.Variables {
		p.Variables[i].File = base(p.Variables[i].File)
	}
	for _, all := range []*[]bench.Request{&p.Setup, &p.Requests, &p.Teardown} {
		*all = slices.Clone(*all)
		for i := range *all {
			(*all)[i].BodyFile = base((*all)[i].BodyFile)
		}
	}
	return hash(p)
}

// base returns the name of a file; "" of none.
func base(file string) string {
	if file == "" {
		return ""
	}
	return filepath.Base(file)
}

// restHash is of what no other difference names, so a new part of the profile is seen.
func restHash(p bench.Profile) string {
	p.Limits, p.Runtime, p.Requests, p.Steps, p.Data = bench.Limits{}, "", nil, nil, bench.DataSpec{}
	p.Store.Kind, p.Store.Latency, p.Store.P99, p.Protocol, p.Timeout, p.CompareBodies, p.Interleave = "", 0, 0, "", 0, 0, 0
	return ProfileHash(p)
}

// added returns the latency that a store adds to its responses; "" where it adds none.
func added(s bench.StoreSpec) string {
	if s.Latency == 0 {
		return ""
	}
	text := units.Duration(s.Latency)
	if s.P99 > 0 {
		text += ", p99 " + units.Duration(s.P99)
	}
	return text
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

// hash returns the beginning of the SHA-256 of v's JSON; "" where it has none, as an infinite rate.
func hash(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return short(hex.EncodeToString(sum[:]))
}

// TrialDifferences returns between how two contenders really ran, the gravest first.
func TrialDifferences(a, b []bench.TrialResult) []Difference {
	return slices.DeleteFunc(unlike(known(a), known(b)), Difference.unknown)
}

// known returns what the trials say, each other response once: "0-1, 2-3" where the rounds differ.
func known(trials []bench.TrialResult) []fact {
	facts := trialFacts(bench.TrialResult{})
	for i := range facts {
		var all []string
		for _, l := range trials {
			if v := trialFacts(l)[i].value; v != "" && !slices.Contains(all, v) {
				all = append(all, v)
			}
		}
		slices.Sort(all)
		facts[i].value = strings.Join(all, ", ")
	}
	return facts
}

func trialFacts(l bench.TrialResult) []fact {
	var definition, limited, enforced string
	if d, ok := l.Definition(); ok {
		definition = d.String()
	}
	var i bench.InstanceInfo
	if l.Instance != nil {
		i, limited, enforced = *l.Instance, limits(l.Instance.Limits), "no"
	}
	if i.LimitsEnforced {
		enforced = "yes"
	}
	return []fact{
		{"measured step", Incomparable, definition},
		{"runtime in use", Incomparable, string(i.Runtime)},
		{"limits in use", Incomparable, limited},
		{"limits enforced", Incomparable, enforced},
		{"CPU set", Relevant, i.CPUSet.String()},
		{"version", Informational, l.Service.Version},
		{"sources", Informational, short(l.Artifact.Sources)},
		{"framework", Informational, l.Service.Framework},
		{"language version", Informational, l.Service.LanguageVersion},
		{"image", Informational, short(strings.TrimPrefix(i.ImageID, "sha256:"))},
	}
}

// breaking names the differences that break a comparison: "other limits (1 CPU → 2 CPUs)", without
// the values where one is longer than most; "" where none does.
func breaking(differences []Difference, most int) string {
	var parts []string
	for _, d := range differences {
		text := d.String()
		if max(len(d.Old), len(d.New)) > most {
			text = string(d.What)
		}
		if d.Weight == Incomparable {
			parts = append(parts, "other "+text)
		}
	}
	return strings.Join(parts, ", ")
}

// String returns what differs, and how.
func (d Difference) String() string {
	return fmt.Sprintf("%s (%s → %s)", d.What, cmp.Or(d.Old, "none"), cmp.Or(d.New, "none"))
}

func limits(l bench.Limits) string {
	var parts []string
	add := func(is bool, text string) {
		if is {
			parts = append(parts, text)
		}
	}
	add(l.CPUs > 0, units.CPUs(l.CPUs))
	add(l.CPUSet > 0, fmt.Sprintf("set of %d", l.CPUSet))
	add(l.Memory > 0, units.Bytes(l.Memory))
	add(l.PIDs > 0, fmt.Sprintf("%d processes", l.PIDs))
	return cmp.Or(strings.Join(parts, ", "), "none")
}

// size returns "" below least.
func size(n, least int64) string {
	if n < least {
		return ""
	}
	return units.Bytes(n)
}

func virtual(m bench.Machine) string {
	if m.Virtual == "" && m.SMT != "" { // a version that looks, and has found nothing
		return "none visible"
	}
	return m.Virtual
}

// apart returns "" where all share the CPUs, whatever the reason, as it always was in earlier versions.
func apart(i *bench.Isolation) string {
	if i == nil || !i.Separate {
		return ""
	}
	return i.Text
}

func number(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// short returns the beginning of a hash, enough to tell two apart.
func short(hash string) string {
	if len(hash) > 12 {
		return hash[:12]
	}
	return hash
}

// targets returns the addresses at which contenders ran already.
func targets(r bench.Run) string {
	var all []string
	for _, t := range r.Targets {
		all = append(all, t.URL)
	}
	return strings.Join(all, ", ")
}
