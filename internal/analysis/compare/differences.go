package compare

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/locbench/locbench/internal/analysis"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/text/safe"
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
	profileHashed Fact = "profile hash"

	limitsSet   Fact = "limits"
	limitsInUse Fact = "limits in use"
	imageRun    Fact = "image"
)

// mayBeUnknown are the facts of a run that are not differences where one side does not know them.
var mayBeUnknown = []Fact{"turbo", "SMT", "virtualisation"}

// Difference is a property that differs between two sides.
type Difference struct {
	What   Fact   `json:"what"`
	Old    string `json:"old"` // "": not known, or none
	New    string `json:"new"`
	Weight Weight `json:"weight"`
}

// String returns "limits: 1 CPU → 2 CPUs".
func (d Difference) String() string {
	return fmt.Sprintf("%s: %s → %s", d.What, cmp.Or(d.Old, "none"), cmp.Or(d.New, "none"))
}

// unknown reports whether the property is not known for one side.
func (d Difference) unknown() bool { return d.Old == "" || d.New == "" }

// breaking returns the differences that prevent a comparison: "limits: 1 CPU → 2 CPUs"; of values
// longer than most only "other limits"; "" for none.
func breaking(differences []Difference, most int) string {
	var parts []string
	for _, d := range differences {
		switch {
		case d.Weight != Incomparable:
		case max(len(d.Old), len(d.New)) > most:
			parts = append(parts, "other "+string(d.What))
		default:
			parts = append(parts, d.String())
		}
	}
	return strings.Join(parts, "; ")
}

// byWeight sorts differences in place, the most serious first, and returns them.
func byWeight(all []Difference) []Difference {
	slices.SortStableFunc(all, func(x, y Difference) int {
		return cmp.Compare(slices.Index(weights, x.Weight), slices.Index(weights, y.Weight))
	})
	return all
}

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
	return byWeight(out)
}

// Differences returns the differences between two runs, the most serious first.
func Differences(a, b bench.Run) []Difference {
	if a.Data.Hash != "" && a.Data.Hash == b.Data.Hash {
		b.Data.Name = a.Data.Name // the same data in another folder
	}
	return slices.DeleteFunc(unlike(runFacts(a, needsOf(a, b)), runFacts(b, needsOf(a, b))), func(d Difference) bool {
		return d.unknown() && slices.Contains(mayBeUnknown, d.What)
	})
}

// trialDifferences returns the differences between two contenders' instances, the most serious
// first.
func trialDifferences(a, b []bench.TrialResult) []Difference {
	return slices.DeleteFunc(unlike(known(a), known(b)), func(d Difference) bool {
		return d.unknown() || d.What == imageRun && sameContents(a, b)
	})
}

// sameContents reports whether all images differ only in labels of locbench.
func sameContents(a, b []bench.TrialResult) bool {
	all := slices.Concat(a, b)
	other := func(t bench.TrialResult) bool { return t.Artifact.Contents != all[0].Artifact.Contents }
	return len(all) > 0 && all[0].Artifact.Contents != "" && !slices.ContainsFunc(all, other)
}

// comparedNeed is a need of two runs, of which only the names are known, with the keys of its parts.
type comparedNeed struct {
	bench.NeedInfo
	parts []string
}

// threads returns the difference between the numbers of threads of two contenders, which runtimes
// derive from limits; none if one is not known.
func threads(a, b analysis.Contender) []Difference {
	old, known := a.Threads()
	fresh, also := b.Threads()
	if !known || !also || old == fresh {
		return nil
	}
	return []Difference{{"threads after the warm-up", units.Count(int64(old)), units.Count(int64(fresh)), Informational}}
}

// needsOf returns the needs of both runs, each once. Those that services have for themselves stand
// for a shared one of the same name, and only where both runs have the service.
func needsOf(a, b bench.Run) (all []comparedNeed) {
	both := slices.Concat(a.Needs, b.Needs)
	has := func(r bench.Run, service string) bool {
		return slices.ContainsFunc(r.Profile.Contenders, func(sel bench.Selection) bool {
			return service == sel.Contender || service == sel.String()
		})
	}
	for _, n := range both {
		n = bench.NeedInfo{Name: n.Name, Service: n.Service}
		own := func(m bench.NeedInfo) bool { return m.Name == n.Name && m.Service != "" }
		ofBoth := !slices.ContainsFunc(both, own)
		if n.Service != "" {
			ofBoth = has(a, n.Service) && has(b, n.Service)
		}
		if ofBoth && !slices.ContainsFunc(all, func(c comparedNeed) bool { return c.NeedInfo == n }) {
			all = append(all, comparedNeed{n, partKeys(a, b, n)})
		}
	}
	return all
}

// needFacts returns the facts of a need; of one that the run does not have, they are not known.
func needFacts(r bench.Run, need comparedNeed) []fact {
	n := bench.NeedInfo{From: bench.NeedNone}
	for _, m := range r.Needs {
		if m.Name == need.Name && (m.Service == need.Service || m.Service == "") {
			n = m
		}
	}
	address := ""
	if n.From.Traits().ByURL { // others have a random port
		address = n.URL
	}
	what := named(need.Label())
	facts := []fact{
		{what, Incomparable, string(n.From)}, {what + " version", Relevant, n.Version},
		{what + " address", Relevant, address}, {what + " latency", Incomparable, n.Latency},
	}
	for _, key := range need.parts {
		value := ""
		if p, ok := partOf(r, need.NeedInfo, key); ok {
			value = safe.Line(p.Name(), 120) + " " + short(strings.TrimPrefix(p.Hash, "sha256:"))
		}
		facts = append(facts, fact{what + " " + named(key), Relevant, value})
	}
	return facts
}

// named returns a fact with a name that may be from outside.
func named(name string) Fact {
	return Fact(strings.Trim(strconv.QuoteToASCII(safe.Line(name, 120)), `"`))
}

// partOf returns a file or image of a need in a run. A shared need stands for that of a service.
func partOf(r bench.Run, need bench.NeedInfo, key string) (p bench.NeedPart, ok bool) {
	for _, label := range []string{need.Label(), need.Name} {
		for _, p := range r.NeedParts {
			if p.Need == label && p.Key == key {
				return p, true
			}
		}
	}
	return p, false
}

// partKeys returns the files and images of a need that two runs have, each once, but for its own
// image, which is its version. Without those of both nothing is known.
func partKeys(a, b bench.Run, need bench.NeedInfo) (keys []string) {
	for _, r := range []bench.Run{a, b} {
		found := false
		for _, p := range r.NeedParts {
			if p.Need != need.Label() && p.Need != need.Name {
				continue
			}
			if found = true; p.Key != "image" && !slices.Contains(keys, p.Key) {
				keys = append(keys, p.Key)
			}
		}
		if !found {
			return nil
		}
	}
	slices.Sort(keys)
	return keys
}

func runFacts(r bench.Run, needs []comparedNeed) []fact {
	p, m := r.Profile, r.Machine
	var swap, assigned string
	var data, targets []string
	slice, virtual := "none", m.Virtual
	if p.Interleave > 0 {
		slice = units.Duration(p.Interleave)
	}
	if m.SwapUsed != nil && *m.SwapUsed >= 64<<20 { // a few pages do not matter
		swap = units.Bytes(*m.SwapUsed)
	}
	if m.SMT != "" { // it was looked for, but not found
		virtual = cmp.Or(virtual, "none visible")
	}
	if i := r.Isolated; i != nil && i.Separate { // else the CPUs are shared
		assigned = i.Text
	}
	if r.Data.Name != "" {
		data = append(data, strings.TrimSpace(r.Data.Name+" "+short(r.Data.Hash)))
	}
	for _, f := range r.Files {
		data = append(data, filepath.Base(f.File)+" "+short(f.Hash))
	}
	for _, t := range r.Targets {
		targets = append(targets, t.URL)
	}
	all := []fact{
		{limitsSet, Incomparable, cmp.Or(p.Limits.String(), "none")},
		{"runtime", Incomparable, string(p.Runtime)},
		{"requests", Incomparable, requests(p.Requests)},
		{"steps", Incomparable, steps(p.Steps)},
		{"interleaving", Incomparable, slice},
		{"other profile keys", Incomparable, restHash(p)},
		{"data", Incomparable, strings.Join(data, ", ")},
	}
	for _, n := range needs {
		all = append(all, needFacts(r, n)...)
	}
	return append(all, []fact{
		{"CPU", Incomparable, strings.TrimSpace(fmt.Sprintf("%d × %s", m.CPUs, m.CPUModel))},
		{"system", Incomparable, m.OS + "/" + m.Arch},
		{"machine memory", Incomparable, positive(m.MemoryBytes, units.Bytes)},
		{"target", Incomparable, strings.Join(targets, ", ")},
		{"protocol", Incomparable, string(p.Protocol)},
		{"request timeout", Relevant, units.Duration(p.Timeout)},
		{"bodies compared", Relevant, fmt.Sprintf("%g%%", 100*p.CompareBodies)},
		{"unexpected bodies permitted", Relevant, fmt.Sprintf("%g%%", 100*p.MaxUnexpected)},
		{"load before the run", Relevant, m.Load1},
		{"kernel", Relevant, m.Kernel},
		{"CPU governor", Relevant, m.Governor},
		{"turbo", Relevant, m.Turbo},
		{"SMT", Relevant, m.SMT},
		{"virtualisation", Relevant, virtual},
		{"swap in use", Relevant, swap},
		{"other containers", Relevant, m.OtherContainers},
		{"CPU assignment", Relevant, assigned},
		{"cgroup version", Relevant, positive(int64(m.CgroupVersion), units.Count)},
		{"locbench", Relevant, r.Software.Locbench},
		{"Docker", Relevant, r.Software.Docker},
		{"contenders", Informational, positive(int64(len(p.Contenders)), units.Count)},
		{"Go", Informational, r.Software.Go},
		{profileHashed, Informational, ProfileHash(p)},
	}...)
}

// positive returns a number in words; "" for 0, which is not known.
func positive(n int64, words func(int64) string) string {
	if n <= 0 {
		return ""
	}
	return words(n)
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
	var definition, limits, enforced string
	var engines []string
	if d, ok := trial.Definition(); ok {
		definition = d.String()
	}
	for _, e := range bench.EnginesOf(trial) {
		engines = append(engines, string(e))
	}
	var i bench.InstanceInfo
	if trial.Instance != nil {
		i = *trial.Instance
		limits, enforced = cmp.Or(i.Limits.String(), "none"), map[bool]string{true: "yes", false: "no"}[i.LimitsEnforced]
	}
	return []fact{
		{"measured step", Incomparable, definition},
		{"load engine", Relevant, strings.Join(engines, ", ")},
		{"runtime in use", Incomparable, string(i.Runtime)},
		{limitsInUse, Incomparable, limits},
		{"limits enforced", Incomparable, enforced},
		{"CPU set", Relevant, i.CPUSet.String()},
		{"container", Relevant, i.Confined.String()},
		{"version", Informational, trial.Service.Version},
		{"sources", Informational, short(trial.Artifact.Sources)},
		{"framework", Informational, trial.Service.Framework},
		{"language version", Informational, trial.Service.LanguageVersion},
		{imageRun, Informational, short(strings.TrimPrefix(i.ImageID, "sha256:"))},
	}
}

// ProfileHash returns the hash of all parts of a profile that results depend on. Thresholds are not
// part of it, because steps record what they stopped; nor are folders of files.
func ProfileHash(p bench.Profile) string {
	p.Name, p.Title, p.Description, p.Contenders, p.Rounds, p.PriceVCPUHr = "", "", "", nil, 0, 0
	p.Checks, p.Thresholds = bench.CheckSpec{}, nil
	p.Needs = each(p.Needs, func(n *bench.NeedSpec) { n.URL, n.For, n.Manifest, n.Restarts, n.Own = "", nil, false, false, false })
	p.CompareBounded = false // what it leaves out is on record in the results
	p.Steps = loads(p.Steps)
	p.Settings = each(p.Settings, func(s *bench.Settings) { s.Dir = base(s.Dir) })
	p.Variables = each(p.Variables, func(v *bench.Variable) { v.File = base(v.File) })
	for _, all := range []*[]bench.Request{&p.Setup, &p.Requests, &p.Teardown} {
		*all = each(*all, func(r *bench.Request) {
			r.BodyFile = base(r.BodyFile)
			r.Multipart = each(r.Multipart, func(f *bench.Field) { f.File = base(f.File) })
		})
	}
	return hash(p)
}

// each returns a copy of a list with a change of each of its values.
func each[T any](all []T, change func(*T)) []T {
	all = slices.Clone(all)
	for i := range all {
		change(&all[i])
	}
	return all
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
	p.Limits, p.Runtime, p.Requests, p.Steps, p.Needs, p.Protocol = bench.Limits{}, "", nil, nil, nil, ""
	p.Timeout, p.CompareBodies, p.MaxUnexpected, p.Interleave = 0, 0, 0, 0
	return ProfileHash(p)
}

func requests(rs []bench.Request) string {
	if len(rs) == 0 {
		return ""
	}
	return fmt.Sprintf("%d, hash %s", len(rs), hash(rs))
}

// steps returns all steps in words, and their hash.
func steps(all []bench.Step) string {
	if len(all) == 0 {
		return ""
	}
	var parts []string
	for _, s := range all {
		parts = append(parts, fmt.Sprintf("%s for %s", s.Title(), units.Duration(s.Duration)))
	}
	return strings.Join(parts, ", ") + ", hash " + hash(loads(all))
}

// loads returns the steps without what does not change their load: how many requests they keep.
func loads(all []bench.Step) []bench.Step {
	return each(all, func(s *bench.Step) { s.KeepRequests = 0 })
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

// short returns the start of a hash.
func short(hash string) string { return hash[:min(12, len(hash))] }
