package bench

import (
	"context"
	"strconv"
	"time"

	"locbench/internal/bench/cpuset"
)

// Instance is one running contender.
type Instance interface {
	// BaseURL is how the load generator reaches it, without a slash at the end.
	BaseURL() string
	// Info says what runs and under which limits. Only the address may change.
	Info() InstanceInfo
	// Exited is closed as soon as the main process has ended, for whatever reason.
	Exited() <-chan struct{}
	// Exit says how it ended; nil while it runs.
	Exit() *Exit
	// Usage reads the counters now. It works until Stop, and fails with an error afterwards or if
	// the instance is gone.
	Usage(ctx context.Context) (Usage, error)
	// Logs returns the last lines it has written, oldest first, bounded.
	Logs() []LogLine
	// Stop asks it to end (SIGTERM), kills it after grace, and removes everything that Launch
	// created. It is idempotent and returns the same StopResult again. It works with a ctx that has
	// been cancelled.
	Stop(ctx context.Context, grace time.Duration) (StopResult, error)
}

// InstanceInfo is what is known of an instance from its start on.
type InstanceInfo struct {
	Runtime        Runtime    `json:"runtime"`
	ID             string     `json:"id,omitempty"`  // container ID
	PID            int        `json:"pid,omitempty"` // of the main process, seen from this machine; 0 if it is not on it
	Image          string     `json:"image,omitempty"`
	ImageID        string     `json:"image_id,omitempty"`
	ImageSize      int64      `json:"image_bytes,omitempty"`
	Address        string     `json:"address"`    // host:port that the load goes to
	StartedAt      time.Time  `json:"started_at"` // when the runtime started the process, by this machine's clock
	Limits         Limits     `json:"limits"`     // as asked for
	LimitsEnforced bool       `json:"limits_enforced"`
	LimitsNote     string     `json:"limits_note,omitempty"` // which limit is not enforced and why
	CPUSet         cpuset.Set `json:"cpu_set,omitempty"`     // "0-3", as given to the runtime

	// of a container: what its manifest asks for beyond what contenders have
	Privileges Privileges `json:"privileges,omitzero"`
}

// Exit says how a process ended.
type Exit struct {
	At        time.Time `json:"at"`
	Code      int       `json:"code"` // 128 + signal number where a signal ended it; -1: nobody could tell
	Signal    string    `json:"signal,omitempty"`
	OOMKilled bool      `json:"oom_killed,omitempty"`

	EngineLost bool `json:"engine_lost,omitempty"` // the container engine was away when it ended, or is still
}

// String returns a sentence's end: "exit code 3", "killed by SIGKILL (out of memory)".
func (e Exit) String() string {
	s := "exit code " + strconv.Itoa(e.Code) + codeMeanings[e.Code]
	switch {
	case e.Signal != "":
		s = "killed by " + e.Signal + signalMeanings[e.Signal]
	case e.Code < 0 && !e.EngineLost:
		s = "gone, exit code unknown"
	case e.Code < 0:
		s = "exit code unknown"
	}
	if e.OOMKilled {
		s += " (out of memory)"
	}
	if e.EngineLost {
		s += "; the container engine was stopped or restarted"
	}
	return s
}

// codeMeanings are those of the codes that runtimes and shells use by convention.
var codeMeanings = map[int]string{
	125: " (Docker engine error)",
	126: " (the command is not executable)",
	127: " (the command was not found)",
}

var signalMeanings = map[string]string{
	"SIGSEGV": " (segmentation fault)",
	"SIGABRT": " (aborted)",
	"SIGILL":  " (illegal instruction)",
	"SIGBUS":  " (bus error)",
	"SIGFPE":  " (arithmetic error)",
}

// StopResult says how gracefully an instance stopped.
type StopResult struct {
	Took time.Duration `json:"took_ns"` // from SIGTERM until it had ended
	// ended by itself with code 0 within the grace time (143, death by the default action of SIGTERM, is not graceful)
	Graceful bool `json:"graceful"`
	Killed   bool `json:"killed"` // had to be killed after the grace time
	// was killed before the grace time was over, since somebody wanted the end by force
	Forced           bool `json:"forced,omitempty"`
	ExitedBeforeStop bool `json:"exited_before_stop"` // had ended before it was asked
	Exit             Exit `json:"exit"`
}

// Usage is one reading of an instance's counters. What the source cannot tell is nil, never 0.
type Usage struct {
	At time.Time `json:"at"` // the middle of the reading, by this machine's clock
	// "cgroup v1", "cgroup v2", "docker stats", "/proc", or two of them ("cgroup v2; memory and threads of /proc")
	Source     string        `json:"source"`
	CPU        time.Duration `json:"cpu_ns"` // time used since start, user and system together
	CPUUser    *Duration     `json:"cpu_user_ns,omitempty"`
	CPUSystem  *Duration     `json:"cpu_system_ns,omitempty"`
	Throttling *Throttling   `json:"throttling,omitempty"`
	Memory     *Memory       `json:"memory,omitempty"`
	Processes  *int          `json:"processes,omitempty"`
	Threads    *int          `json:"threads,omitempty"`
	Pressure   *Pressure     `json:"pressure,omitempty"`
	Switches   *Switches     `json:"context_switches,omitempty"`
	Network    *Network      `json:"network,omitempty"`
	Took       Duration      `json:"took_ns,omitempty"` // what this reading took
}

// Throttling counts what the CPU quota has done since start.
type Throttling struct {
	Periods   int64         `json:"periods"`           // enforcement periods in which the group wanted to run
	Throttled int64         `json:"throttled_periods"` // those in which it used up its quota
	Time      time.Duration `json:"throttled_ns"`      // summed over CPUs, as the kernel does
}

// Memory in bytes.
type Memory struct {
	// without page cache: usage − inactive_file (v2), usage − cache + shmem (v1), RSS (/proc)
	Used int64 `json:"used_bytes"`
	Peak int64 `json:"peak_bytes"` // high-water mark since start
	// "max_usage", "memory.peak", "VmHWM", or "largest sample" (an estimate)
	PeakSource  string `json:"peak_source"`
	Limit       int64  `json:"limit_bytes,omitempty"` // 0: none
	OOMKills    int64  `json:"oom_kills,omitempty"`
	LimitHits   *int64 `json:"limit_hits,omitempty"`   // how often the limit was met, and memory had to be won back first
	MajorFaults *int64 `json:"major_faults,omitempty"` // pages that had to be read from a disk
	MinorFaults *int64 `json:"minor_faults,omitempty"` // pages that were in memory already, or are new
	// pages that had been given up for lack of memory, and were needed again
	Refaults *int64 `json:"refaults,omitempty"`
	// high-water mark since the beginning of the step, where the kernel can begin it again
	StepPeak     *int64 `json:"step_peak_bytes,omitempty"`
	PeakIsSample bool   `json:"peak_is_sample,omitempty"` // the peak is the largest sample: the true one may be higher
}

// LogLine is one line that an instance has written. Text is as it came (bounded, without its line
// end): whoever shows it on a terminal or in HTML neutralises it first.
type LogLine struct {
	At     time.Time `json:"at"`
	Stream string    `json:"stream"` // stdout, stderr
	Text   string    `json:"text"`
}
