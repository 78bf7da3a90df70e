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

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
)

// Weight is the effect of a difference on a comparison.
type Weight string

// The weights.
const (
	Incomparable  Weight = "incomparable"  // the results measure different things
	Relevant      Weight = "relevant"      // may affect the results
	Informational Weight = "informational" // may be the change that is compared
	Subject       Weight = "subject"       // the profile sets it for the contenders of a run, to compare them
)

// weights has the most serious weight first.
var weights = []Weight{Incomparable, Subject, Relevant, Informational}

// Fact names a property of a side.
type Fact string

// The facts that other code uses by name.
const (
	ProfileHashed Fact = "profile hash"

	limitsInUse    Fact = "limits in use"
	turbo          Fact = "turbo"
	smt            Fact = "SMT"
	virtualisation Fact = "virtualisation"
)

// Difference is a property that differs between two sides.
type Difference struct {
	What   Fact   `json:"what"`
	Old    string `json:"old"` // "": not known, or none
	New    string `json:"new"`
	Weight Weight `json:"weight"`
}

// unknown reports whether the property is not known for one side.
func (d Difference) unknown() bool { return d.Old == "" || d.New == "" }

// fact is a property of one side.
type fact struct {
	what   Fact
	weight Weight
	value  string // "": not known, or none
}

// unlike returns the differences between two lists with the same facts, the most serious first.
func unlike(a, b []fact) (out []Difference) {
	for i, f := range a {
		if f.value != b[i].value {
			out = append(out, Difference{f.what, f.value, b[i].value, f.weight})
		}
	}
	return ByWeight(out)
}

// ByWeight sorts differences in place, the most serious first, and returns them.
func ByWeight(all []Difference) []Difference {
	slices.SortStableFunc(all, func(x, y Difference) int {
		return cmp.Compare(slices.Index(weights, x.Weight), slices.Index(weights, y.Weight))
	})
	return all
}

// data returns the data set, if the run uses it, and the files of requests.
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

// Differences returns the differences between two runs, the most serious first.
func Differences(a, b bench.Run) []Difference {
	if a.Data.Hash != "" && a.Data.Hash == b.Data.Hash {
		b.Data.Name = a.Data.Name // the same data in another folder
	}
	mayBeUnknown := []Fact{turbo, smt, virtualisation}
	return slices.DeleteFunc(unlike(runFacts(a), runFacts(b)), func(d Difference) bool {
		return d.unknown() && slices.Contains(mayBeUnknown, d.What)
	})
}

func runFacts(r bench.Run) []fact {
	p, m := r.Profile, r.Machine
	address, swap, slice := "", "", "none"
	if r.Store.Kind.Traits().ByURL { // other stores have a random port
		address = r.Store.URL
	}
	if p.Interleave > 0 {
		slice = units.Duration(p.Interleave)
	}
	if m.SwapUsed != nil { // a few pages do not matter
		swap = size(*m.SwapUsed, 64<<20)
	}
	return []fact{
		{"limits", Incomparable, limits(p.Limits)},
		{"runtime", Incomparable, string(p.Runtime)},
		{"requests", Incomparable, requests(p.Requests)},
		{"steps", Incomparable, steps(p.Steps)},
		{"interleaving", Incomparable, slice},
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
		{"unexpected bodies permitted", Relevant, fmt.Sprintf("%g%%", 100*p.MaxUnexpected)},
		{"load before the run", Relevant, m.Load1},
		{"kernel", Relevant, m.Kernel},
		{"CPU governor", Relevant, m.Governor},
		{turbo, Relevant, m.Turbo},
		{smt, Relevant, m.SMT},
		{virtualisation, Relevant, virtual(m)},
		{"swap in use", Relevant, swap},
		{"other containers", Relevant, m.OtherContainers},
		{"CPU assignment", Relevant, assigned(r.Isolated)},
		{"cgroup version", Relevant, number(m.CgroupVersion)},
		{"locbench", Relevant, r.Software.Locbench},
		{"Docker", Relevant, r.Software.Docker},
		{"contenders", Informational, number(len(p.Contenders))},
		{"Go", Informational, r.Software.Go},
		{ProfileHashed, Informational, ProfileHash(p)},
	}
}

// ProfileHash returns the hash of all parts of a profile that results depend on. Thresholds are not
// part of it, because steps record what they stopped.
func ProfileHash(p bench.Profile) string {
	p.Thresholds = nil
	p.CompareBounded = false              // what it leaves out is on record in the results
	p.Settings = slices.Clone(p.Settings) // the same folder elsewhere; results have the hash of its sources
	for i := range p.Settings {
		p.Settings[i].Dir = base(p.Settings[i].Dir)
	}
	p.Name, p.Title, p.Description, p.Contenders, p.Rounds, p.PriceVCPUHr, p.Checks = "", "", "", nil, 0, 0,
		bench.CheckSpec{}
	p.Store.URL = ""
	p.Steps = loads(p.Steps)
	p.Variables = slices.Clone(p.Variables) // the same files in another folder
	for i := range p.Variables {
		p.Variables[i].File = base(p.Variables[i].File)
	}
	for _, all := range []*[]bench.Request{&p.Setup, &p.Requests, &p.Teardown} {
		*all = slices.Clone(*all)
		for i := range *all {
			(*all)[i].BodyFile = base((*all)[i].BodyFile)
			(*all)[i].Multipart = slices.Clone((*all)[i].Multipart)
			for j := range (*all)[i].Multipart {
				(*all)[i].Multipart[j].File = base((*all)[i].Multipart[j].File)
			}
		}
	}
	return hash(p)
}

// base returns the name of a file; "" for none.
func base(file string) string {
	if file == "" {
		return ""
	}
	return filepath.Base(file)
}

// restHash returns the hash of the parts of a profile that no other fact contains.
func restHash(p bench.Profile) string {
	p.Settings = nil // the limits in use, images and sources of each contender are compared
	p.Limits, p.Runtime, p.Requests, p.Steps, p.Data = bench.Limits{}, "", nil, nil, bench.DataSpec{}
	p.Store.Kind, p.Store.Latency, p.Store.P99, p.Protocol = "", 0, 0, ""
	p.Timeout, p.CompareBodies, p.MaxUnexpected, p.Interleave = 0, 0, 0, 0
	return ProfileHash(p)
}

// added returns the latency that a store adds to its responses; "" for none.
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

// steps returns all steps in words, and their hash.
func steps(all []bench.Step) string {
	var parts []string
	for _, s := range all {
		parts = append(parts, fmt.Sprintf("%s for %s", s.Title(), units.Duration(s.Duration)))
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, ", ") + ", hash " + hash(loads(all))
}

// loads returns the steps without what does not change their load: how many requests they keep.
func loads(all []bench.Step) []bench.Step {
	all = slices.Clone(all)
	for i := range all {
		all[i].KeepRequests = 0
	}
	return all
}

// hash returns the start of the SHA-256 of v's JSON; "" if v has no JSON, such as an infinite rate.
func hash(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return short(hex.EncodeToString(sum[:]))
}

// TrialDifferences returns the differences between two contenders' instances, the most serious
// first.
func TrialDifferences(a, b []bench.TrialResult) []Difference {
	return slices.DeleteFunc(unlike(known(a), known(b)), Difference.unknown)
}

// known returns the facts of the trials, with each distinct value once: "0-1, 2-3".
func known(trials []bench.TrialResult) []fact {
	facts := trialFacts(bench.TrialResult{})
	for i := range facts {
		var all []string
		for _, trial := range trials {
			if v := trialFacts(trial)[i].value; v != "" && !slices.Contains(all, v) {
				all = append(all, v)
			}
		}
		slices.Sort(all)
		facts[i].value = strings.Join(all, ", ")
	}
	return facts
}

func trialFacts(trial bench.TrialResult) []fact {
	var definition, limited, enforced string
	if d, ok := trial.Definition(); ok {
		definition = d.String()
	}
	var i bench.InstanceInfo
	if trial.Instance != nil {
		i, limited, enforced = *trial.Instance, limits(trial.Instance.Limits), "no"
	}
	if i.LimitsEnforced {
		enforced = "yes"
	}
	return []fact{
		{"measured step", Incomparable, definition},
		{"load engine", Relevant, engines(trial)},
		{"runtime in use", Incomparable, string(i.Runtime)},
		{limitsInUse, Incomparable, limited},
		{"limits enforced", Incomparable, enforced},
		{"CPU set", Relevant, i.CPUSet.String()},
		{"version", Informational, trial.Service.Version},
		{"sources", Informational, short(trial.Artifact.Sources)},
		{"framework", Informational, trial.Service.Framework},
		{"language version", Informational, trial.Service.LanguageVersion},
		{"image", Informational, short(strings.TrimPrefix(i.ImageID, "sha256:"))},
	}
}

// engines returns the load engines of a trial; "" if none is known.
func engines(trial bench.TrialResult) string {
	var names []string
	for _, e := range bench.EnginesOf(trial) {
		names = append(names, string(e))
	}
	return strings.Join(names, ", ")
}

// breaking returns the differences that prevent a comparison: "other limits (1 CPU → 2 CPUs)",
// without values longer than most; "" for none.
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

// String returns "limits (1 CPU → 2 CPUs)".
func (d Difference) String() string {
	return fmt.Sprintf("%s (%s → %s)", d.What, cmp.Or(d.Old, "none"), cmp.Or(d.New, "none"))
}

func limits(l bench.Limits) string { return cmp.Or(l.String(), "none") }

// size returns a size, or "" below least.
func size(n, least int64) string {
	if n < least {
		return ""
	}
	return units.Bytes(n)
}

func virtual(m bench.Machine) string {
	if m.Virtual == "" && m.SMT != "" { // it was looked for, but not found
		return "none visible"
	}
	return m.Virtual
}

// assigned returns the assignment of CPUs; "" if the CPUs are shared.
func assigned(i *bench.Isolation) string {
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

// short returns the start of a hash.
func short(hash string) string {
	return hash[:min(12, len(hash))]
}

// targets returns the URLs of the targets.
func targets(r bench.Run) string {
	var all []string
	for _, t := range r.Targets {
		all = append(all, t.URL)
	}
	return strings.Join(all, ", ")
}
