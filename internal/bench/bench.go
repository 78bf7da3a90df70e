// Package bench defines the types of locbench: what to measure (Profile, Service, Step), what runs
// (Instance), what was measured (StepResult, Usage, CheckResult) and what is reported during a run
// (Event).
//
// It holds plain values and the few interfaces that several packages share. It does no I/O and
// imports only the standard library, units and cpuset, so every other package may import it.
// Numbers stay exact here (time.Duration, int64) and are rounded where they are printed. In JSON a
// duration is a whole number of nanoseconds and its key ends in _ns; a size is in bytes.
package bench

import (
	"strconv"
	"time"

	"github.com/locbench/locbench/internal/bench/cpuset"
)

// SchemaVersion is the version of run.json and of the trial files. Readers accept no other.
const SchemaVersion = 4

// Protocol is the version of HTTP that the load uses. Checks use the version that client and
// contender negotiate.
type Protocol string

// The protocols. HTTP/2 uses TLS for https URLs and prior knowledge for http. With either protocol
// a connection carries one request at a time.
const (
	HTTP11 Protocol = "http/1.1"
	HTTP2  Protocol = "http/2"
)

// Trial is one contender from start to stop: started, checked, loaded step by step and stopped.
// Each contender has one trial per round.
type Trial struct {
	Contender string `json:"contender"`
	Variant   string `json:"variant,omitempty"` // "" only where the service has no variants
	Round     int    `json:"round"`             // number of the round, from 1
}

// Label returns what tables and charts call the contender: "rs-actix", or "rs-actix:lto".
func (t Trial) Label() string { return Selection{t.Contender, t.Variant}.String() }

// String returns the name of the trial and the stem of its file: "rs-actix-1", "rs-actix.lto-1".
func (t Trial) String() string {
	name := t.Contender
	if t.Variant != "" {
		name += "." + t.Variant
	}
	return name + "-" + strconv.Itoa(t.Round)
}

// Selection chooses a contender and one of its variants; without one, the manifest's default.
type Selection struct {
	Contender string `json:"contender"`
	Variant   string `json:"variant,omitempty"`
}

// String returns the form used in profiles and on the command line: "rs-actix:lto".
func (s Selection) String() string {
	if s.Variant == "" {
		return s.Contender
	}
	return s.Contender + ":" + s.Variant
}

// Limits are the resource limits of one contender. A zero field means no limit.
type Limits struct {
	// quota in CPUs; 1.5 is 150 ms of CPU time in every period of 100 ms
	CPUs float64 `json:"cpus,omitempty" yaml:"cpus" strict:"min=0.01,max=1024"`
	// number of CPUs that it may run on; at most those of the machine
	CPUSet int `json:"cpu_set,omitempty" yaml:"cpu_set" strict:"min=1,max=1024"`
	// memory in bytes; swap is never allowed
	Memory int64 `json:"memory_bytes,omitempty" yaml:"memory" strict:"bytes,min=6MiB,max=16TiB"`
	// processes and threads together
	PIDs int64 `json:"pids,omitempty" yaml:"pids" strict:"min=1,max=4194304"`
}

// IsolationOff is the value of Profile.Isolation with which contender, needs and client share CPUs.
const IsolationOff = "off"

// Isolation is the assignment of CPUs to contender, needs and client, as sets such as "0-3,5".
type Isolation struct {
	Separate  bool       `json:"separate"` // the sets below are enforced and do not overlap
	Contender cpuset.Set `json:"contender,omitempty"`
	// CPUs of needs in containers; embedded ones run on the CPUs of the client
	Needs  cpuset.Set `json:"needs,omitempty"`
	Client cpuset.Set `json:"client,omitempty"`
	Text   string     `json:"text"` // the assignment in words, or what is shared and why
}

// String returns Text, or "" for nil.
func (i *Isolation) String() string {
	if i == nil {
		return ""
	}
	return i.Text
}

// Profile is a repeatable benchmark: everything except the machine that the results depend on.
type Profile struct {
	Name        string      `json:"name" yaml:"name"`
	Title       string      `json:"title,omitempty" yaml:"title" strict:"max=200"`
	Description string      `json:"description,omitempty" yaml:"description" strict:"max=10000"`
	Contenders  []Selection `json:"contenders"`
	Services    string      `json:"services,omitempty"` // folder with contenders that are not bundled
	// 0 only before a run is planned: as many as a verdict takes
	Rounds  int     `json:"rounds" yaml:"rounds" strict:"min=1,max=1000"`
	Runtime Runtime `json:"runtime" yaml:"runtime" strict:"oneof=auto|docker|process|url"`
	Limits  Limits  `json:"limits" yaml:"limits"`
	// what is different for single contenders; LimitsOf and SettingsOf read it
	Settings []Settings `json:"settings,omitempty"`
	// "off", or "": contender, needs and client get separate CPU sets if the machine has enough
	// CPUs
	Isolation string     `json:"isolation,omitempty" yaml:"isolation" strict:"oneof=auto|off"`
	Needs     []NeedSpec `json:"needs,omitempty" yaml:"needs"`
	// requests of the load: single ones, and those of the sessions in their order
	Requests  []Request  `json:"requests"`
	Sessions  []Session  `json:"sessions,omitempty"`
	Variables []Variable `json:"variables,omitempty" yaml:"variables"` // values for {name} in requests
	// requests sent once per trial: Setup after the checks, Teardown at the end, however it ends
	Setup    []Request `json:"setup,omitempty"`
	Teardown []Request `json:"teardown,omitempty"`
	Protocol Protocol  `json:"protocol,omitempty" yaml:"protocol" strict:"oneof=http/1.1|http/2"` // "": HTTP11
	// time limit from sending a request to the last byte of its response
	Timeout Duration `json:"timeout_ns" yaml:"timeout" strict:"min=1ms,max=1h"`
	// share of the responses whose whole body is compared with the expected one, if that is known
	CompareBodies float64 `json:"compare_bodies,omitempty" yaml:"compare_bodies" strict:"percent,none"`
	// CompareBodies is the default: comparing takes at most 1% of one CPU. A share that the user
	// chose is compared at any cost.
	CompareBounded bool `json:"compare_bounded,omitempty"`
	// error rate above which a step is not valid; 0: DefaultMaxErrors
	MaxErrors float64 `json:"max_errors,omitempty" yaml:"max_errors" strict:"percent"`
	// share of the compared bodies that may be unexpected in a step before its contender is
	// excluded
	MaxUnexpected float64            `json:"max_unexpected,omitempty" yaml:"max_unexpected" strict:"percent"`
	FirstRequests *FirstRequestsSpec `json:"first_requests,omitempty" yaml:"first_requests"`
	Checks        CheckSpec          `json:"checks" yaml:"checks"`
	// the contenders of a round run at the same time, and the load switches between them after this
	// time; 0: one after the other. A plan resolves InterleaveAuto.
	Interleave  Duration    `json:"interleave_ns,omitempty"`
	Steps       []Step      `json:"steps"`
	Thresholds  []Threshold `json:"thresholds,omitempty" yaml:"thresholds" strict:"max=100"`
	PriceVCPUHr float64     `json:"price_usd_per_vcpu_hour" yaml:"price_per_vcpu_hour" strict:"min=0,max=1000"`
}

// Duration is a time.Duration; the alias keeps struct literals short.
type Duration = time.Duration

// LoadDuration returns the sum of the durations of all steps, without pauses.
func (p Profile) LoadDuration() time.Duration {
	var d time.Duration
	for _, s := range p.Steps {
		d += s.Duration
	}
	return d
}

// CheckSpec says which checks a trial runs.
type CheckSpec struct {
	Lifecycle []string `json:"lifecycle,omitempty"` // names of lifecycle checks; empty: none
	Suites    []string `json:"suites,omitempty"`    // HTTP suites: bundled names or file paths
}
