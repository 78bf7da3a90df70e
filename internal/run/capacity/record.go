package capacity

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/analysis/conclusion"
	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/text/table"
)

// File is the name of a Record in its folder.
const File = "capacity.json"

// Schema is the version of Record. Readers accept no other.
const Schema = 2

// maxPoints is more than the sets of limits of any search.
const maxPoints = 1000

// Record holds all results of locbench capacity, as JSON that is rewritten after every probe.
type Record struct {
	Schema     int             `json:"schema"`
	Contender  bench.Selection `json:"contender"`
	SLO        string          `json:"slo"` // "p99<50ms,errors<0.1%"
	Resolution float64         `json:"resolution"`
	Need       int             `json:"confirmations_needed"`
	Of         int             `json:"confirmations_of"`
	Length     time.Duration   `json:"probe_ns"` // length of a probe
	Started    time.Time       `json:"started"`
	Command    []string        `json:"command"`
	Points     []Point         `json:"points"`
	Price      float64         `json:"price_usd_per_vcpu_hour"` // of the profile; 0: the default
	// needs that another started, whose CPU time may not be known
	External []string `json:"external_needs,omitempty"`
}

const roomUnit = 8 << 20

// Point is the result under one set of limits.
type Point struct {
	Label    string       `json:"label,omitempty"` // "0.5 CPUs"; "" for the only point
	Limits   bench.Limits `json:"limits"`
	Dir      string       `json:"dir"` // results folder, relative to the record's; its trial has the steps of all probes
	Result   Result       `json:"result"`
	Outcomes []Outcome    `json:"probes"`
	Failure  string       `json:"failure,omitempty"` // why the search is not finished, for people
}

// Outcome is a probe with its verdict and results.
type Outcome struct {
	Probe
	Step      int           `json:"step"` // index in the trial's steps
	Sustained bool          `json:"sustained"`
	Client    bool          `json:"client_bound,omitempty"`
	Why       []string      `json:"why,omitempty"` // reasons why the rate was not sustained
	Achieved  float64       `json:"throughput"`    // successes per second
	P50       time.Duration `json:"p50_ns"`        // from the scheduled time
	P99       time.Duration `json:"p99_ns"`        // from the scheduled time
	Errors    float64       `json:"error_ratio"`   // error rate from 0 to 1; dropped requests are errors
	Late      int64         `json:"late,omitempty"`
	Dropped   int64         `json:"dropped,omitempty"`
	CPU       float64       `json:"cpus,omitempty"`               // CPUs in use; 0: unknown
	CPUEach   time.Duration `json:"cpu_per_request_ns,omitempty"` // 0: unknown
	Memory    int64         `json:"memory_bytes,omitempty"`       // highest use within the probe; 0: unknown
	Sampled   bool          `json:"memory_sampled,omitempty"`     // Memory is the largest reading
	// CPU time of each need per request
	Needs map[string]time.Duration `json:"need_cpu_per_request_ns,omitempty"`
}

// Outcome returns the outcome of probe p, which ran as step res.
func (v Verdict) Outcome(p Probe, res bench.StepResult, why []string) Outcome {
	l := res.Load
	o := Outcome{
		Probe: p, Step: res.Index, Sustained: v.Sustained, Client: v.Client, Why: why, Achieved: l.Throughput(),
		P50: l.Latency.P50, P99: l.Latency.P99, Errors: l.ErrorRateWithDropped(),
		Late: l.Late, Dropped: l.Dropped,
	}
	o.CPU, _ = res.CPUs()
	o.CPUEach, _ = res.CPUPerRequest()
	if bytes, sampled, ok := res.MostMemory(); ok {
		o.Memory, o.Sampled = bytes, sampled
	}
	for _, name := range res.Needs() {
		if cpu := res.Need(name).CPU; cpu != nil && l.Counted() > 0 {
			if o.Needs == nil {
				o.Needs = map[string]time.Duration{}
			}
			o.Needs[name] = *cpu / time.Duration(l.Counted())
		}
	}
	return o
}

// confirming returns the sustained confirming probes.
func (p Point) confirming() (all []Outcome) {
	for _, o := range p.Outcomes {
		if o.Phase == Confirm && o.Sustained && o.Rate == p.Result.Rate {
			all = append(all, o)
		}
	}
	return all
}

// Confirming returns the sustained confirming probe with the median p99; ok is false without any.
func (p Point) Confirming() (o Outcome, ok bool) {
	all := p.confirming()
	if len(all) == 0 {
		return o, false
	}
	slices.SortStableFunc(all, func(a, b Outcome) int { return cmp.Compare(a.P99, b.P99) })
	return all[len(all)/2], true
}

// Memory returns the highest memory use in the confirming probes, in bytes; 0: not known. sampled:
// it may have been higher.
func (p Point) Memory() (bytes int64, sampled bool) {
	for _, o := range p.confirming() {
		bytes, sampled = max(bytes, o.Memory), sampled || o.Sampled
	}
	return bytes, sampled
}

// Room returns a memory limit that is a quarter above Memory, in whole units of roomUnit.
func (p Point) Room() int64 {
	bytes, _ := p.Memory()
	return (bytes*5/4 + roomUnit - 1) / roomUnit * roomUnit
}

// most returns the probe with the highest memory use. There is one.
func (p Point) most() Outcome {
	return slices.MaxFunc(p.Outcomes, func(a, b Outcome) int { return cmp.Compare(a.Memory, b.Memory) })
}

// Refusal returns why Above (or the lowest rate tried) was not sustained; "" if none was refused.
func (p Point) Refusal() string {
	for _, o := range slices.Backward(p.Outcomes) {
		if !o.Sustained && o.Rate == p.Result.Above {
			return Reason(o.Why)
		}
	}
	return ""
}

// Valid returns an error for an invalid record, which may come from any file.
func (r Record) Valid() error {
	if r.Schema < 1 {
		return errors.New(`"schema" is missing: this is not a file of locbench capacity`)
	}
	if r.Schema != Schema {
		return fmt.Errorf("schema %d: this locbench reads schema %d", r.Schema, Schema)
	}
	if len(r.Points) > maxPoints {
		return fmt.Errorf("%d points: expected at most %d", len(r.Points), maxPoints)
	}
	for i, p := range r.Points {
		for _, v := range []float64{r.Price, p.Limits.CPUs, p.Result.Rate, p.Result.Above} {
			if v != 0 && !(v >= 1e-6 && v <= 1e9) {
				return fmt.Errorf("point %d: %g is not a rate, a price or a number of CPUs", i+1, v)
			}
		}
		if !filepath.IsLocal(p.Dir) {
			return fmt.Errorf("point %d: folder %q is outside the record's folder", i+1, p.Dir)
		}
	}
	return nil
}

// table has a row for each of the limits.
func (s searched) table() table.Table {
	usual := "replicas at " + units.Count(conclusion.UsualRate) + "/s"
	t := table.Table{Columns: []table.Column{{Title: "limits", Left: true}, {Title: "sustained req/s"}, {Title: "fails at", Drop: 1},
		{Title: "p50", Drop: 4}, {Title: "p99"}, {Title: "CPU/req", Drop: 3}, {Title: "memory", Drop: 3}, {Title: "probes", Drop: 5}, {Title: usual, Drop: 2},
		{Title: "$ a month"}}}
	most := 0.
	for _, p := range s.Points {
		cost, _ := s.Monthly(p, conclusion.UsualRate)
		most = max(most, cost)
	}
	for i, p := range s.Points {
		o, ok := p.Confirming()
		bytes, _ := p.Memory()
		cost, priced := s.Monthly(p, conclusion.UsualRate)
		row := t.Add(s.Name(p), units.Missing, known(p.Result.Above > 0, units.Number(p.Result.Above)), known(ok, units.Duration(o.P50)),
			known(ok, units.Duration(o.P99)), known(o.CPUEach > 0, units.Duration(o.CPUEach)), known(bytes > 0, units.Bytes(bytes)), strconv.Itoa(p.Result.Probes), units.Missing,
			known(priced, units.Dollars(cost)))
		row.Mark = 1 // one contender, one color
		sustained, month := &row.Cells[1], &row.Cells[len(row.Cells)-1]
		switch {
		case p.Result.Rate > 0:
			sustained.Text = strings.Replace(rate(p), "at least", "≥", 1)
		case p.Result.State == None:
			*sustained = table.Cell{Text: "✗ none", Tone: table.Bad}
		}
		if priced {
			share := cost / most
			month.Share = &share
			row.Cells[len(row.Cells)-2].Text = units.Count(int64(instances(p, conclusion.UsualRate)))
		}
		if len(s.Points) > 1 && &s.Points[i] == s.best {
			sustained.Tone, month.Tone = table.Strong, table.Strong
		}
	}
	if s.best == nil || !s.priced() {
		t = t.Without(usual).Without("$ a month")
	}
	t.Footnotes = []string{fmt.Sprintf("Sustained: the highest rate that met %s in %d of %s of %s. Fails at: the next higher rate tried. "+
		"p50, p99, CPU: the median of these probes; latency from the scheduled time.",
		s.slo(), s.Need, units.Plural(s.Of, "probe"), units.Length(s.Length))}
	if slices.ContainsFunc(s.Points, func(p Point) bool { bytes, _ := p.Memory(); return bytes > 0 }) {
		t.Footnotes[0] += " Memory: the highest use in them."
		return t
	}
	return t.Without("memory")
}

// known returns text if it is known, or a dash.
func known(is bool, text string) string {
	if is {
		return text
	}
	return units.Missing
}
