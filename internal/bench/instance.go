package bench

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/locbench/locbench/internal/bench/cpuset"
)

// Instance is one running contender.
type Instance interface {
	// BaseURL returns the URL for the client, without a slash at the end.
	BaseURL() string
	// Info describes what runs and under which limits. Only the address may change.
	Info() InstanceInfo
	// Exited returns a channel that is closed when the main process has ended.
	Exited() <-chan struct{}
	// Exit returns how the process ended; nil while it runs.
	Exit() *Exit
	// Usage reads the counters now. After Stop, or if the instance is gone, it returns an error.
	Usage(ctx context.Context) (Usage, error)
	// Logs returns the last lines of the log, oldest first, bounded.
	Logs() []LogLine
	// Stop sends SIGTERM, kills the instance after grace, and removes everything that Launch
	// created. Later calls return the same StopResult. It also works with a canceled ctx.
	Stop(ctx context.Context, grace time.Duration) (StopResult, error)
}

// InstanceInfo describes a launched instance.
type InstanceInfo struct {
	Runtime Runtime `json:"runtime"`
	ID      string  `json:"id,omitempty"` // container ID
	// PID of the main process on this machine; 0 if it runs elsewhere
	PID            int        `json:"pid,omitempty"`
	Image          string     `json:"image,omitempty"`
	ImageID        string     `json:"image_id,omitempty"`
	ImageSize      int64      `json:"image_bytes,omitempty"`
	Address        string     `json:"address"`                 // host:port of the load
	ReadyAddress   string     `json:"ready_address,omitempty"` // host:port of the readiness requests, if not the service's port
	StartedAt      time.Time  `json:"started_at"`              // when the runtime started the process, by this machine's clock
	Limits         Limits     `json:"limits"`                  // requested limits
	LimitsEnforced bool       `json:"limits_enforced"`
	LimitsNote     string     `json:"limits_note,omitempty"` // which limit is not enforced and why
	CPUSet         cpuset.Set `json:"cpu_set,omitempty"`     // "0-3", as given to the runtime

	// additional privileges of a container, from its manifest
	Privileges Privileges `json:"privileges,omitzero"`
	Confined   Confined   `json:"confined,omitzero"` // in production too, from its manifest
}

// Exit describes how a process ended.
type Exit struct {
	At        time.Time `json:"at"`
	Code      int       `json:"code"` // 128 + signal number if a signal ended it; -1: not known
	Signal    string    `json:"signal,omitempty"`
	OOMKilled bool      `json:"oom_killed,omitempty"`

	EngineLost bool `json:"engine_lost,omitempty"` // the container engine was not reachable when the process ended
	// Said is the line of its log that most likely says why it exited. It is not trusted.
	Said string `json:"said,omitempty"`
}

// String returns "exit code 3" or "killed by SIGKILL (out of memory)".
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

// codeMeanings explains exit codes that runtimes and shells use by convention.
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

// StopResult describes how an instance stopped.
type StopResult struct {
	Signal string        `json:"signal,omitempty"` // of the stop; "": SIGTERM
	Took   time.Duration `json:"took_ns"`          // time from the signal to the end of the process
	// exited with code 0 within the grace period (143, the default action of SIGTERM, is not
	// graceful)
	Graceful bool `json:"graceful"`
	Killed   bool `json:"killed"` // killed (SIGKILL) after the grace period
	// killed before the end of the grace period: the user forced the end, or the contender ignored
	// the signal in an earlier round
	Forced bool `json:"forced,omitempty"`
	// its main process had a handler of the signal and was killed after the grace period; false also
	// where the kernel that runs it cannot be read
	Handled          bool `json:"handled,omitempty"`
	ExitedBeforeStop bool `json:"exited_before_stop"` // had exited before the signal
	Exit             Exit `json:"exit"`
}

// By returns the result of a stop by a signal.
func (s StopResult) By(signal string) StopResult {
	if signal != "SIGTERM" {
		s.Signal = signal
	}
	return s
}

// SignalName returns the signal of the stop.
func (s StopResult) SignalName() string { return cmp.Or(s.Signal, "SIGTERM") }

// FirstResponse is the first response of a contender, if that did not yet say "ready".
type FirstResponse struct {
	After  time.Duration `json:"after_ns"` // time from process start
	Status int           `json:"status"`
}

// String returns "first response after 9.6ms: 503".
func (f FirstResponse) String() string {
	return fmt.Sprintf("first response after %s: %d", f.After.Round(100*time.Microsecond), f.Status)
}

// Usage is one reading of an instance's counters. Unknown values are nil, never 0.
type Usage struct {
	At time.Time `json:"at"` // middle of the reading, by this machine's clock
	// "cgroup v1", "cgroup v2", "docker stats", "/proc", or a combination of two
	Source     string        `json:"source"`
	CPU        time.Duration `json:"cpu_ns"` // CPU time since start, user and system together
	CPUUser    *Duration     `json:"cpu_user_ns,omitempty"`
	CPUSystem  *Duration     `json:"cpu_system_ns,omitempty"`
	Throttling *Throttling   `json:"throttling,omitempty"`
	Memory     *Memory       `json:"memory,omitempty"`
	Processes  *int          `json:"processes,omitempty" advance:"no"`
	Threads    *int          `json:"threads,omitempty" advance:"no"`
	Pressure   *Pressure     `json:"pressure,omitempty"`
	Switches   *Switches     `json:"context_switches,omitempty"`
	Network    *Network      `json:"network,omitempty"`
	Disk       *Disk         `json:"disk,omitempty"`
	Log        *Log          `json:"log,omitempty"`
	Took       Duration      `json:"took_ns,omitempty" advance:"no"` // how long this reading took
	ThreadTime *ThreadTime   `json:"thread_time,omitempty"`
	// ThreadCPU is the CPU time of each running thread by its number, of which a step keeps
	// StepResult.BusiestThread; nil: not known.
	ThreadCPU map[int]time.Duration `json:"-"`
}

// Log is what an instance has written to its log since its start.
type Log struct {
	Bytes int64 `json:"bytes"`
	Lines int64 `json:"lines"`
	// CPU time of the engine's processes that pass the log on, for whatever they did; nil: not known
	EngineCPU *Duration `json:"engine_cpu_ns,omitempty"`
}

// Throttling counts the effects of the CPU quota since start.
type Throttling struct {
	Periods   int64         `json:"periods"`           // quota periods in which threads of the group were runnable
	Throttled int64         `json:"throttled_periods"` // periods in which the quota was used up
	Time      time.Duration `json:"throttled_ns"`      // summed over the CPUs
}

// Memory is the memory use of an instance.
type Memory struct {
	// memory without page cache: usage − inactive_file (v2), usage − cache + shmem (v1), RSS
	// (/proc)
	Used int64 `json:"used_bytes" advance:"no"`
	Peak int64 `json:"peak_bytes" advance:"no"` // peak memory since start
	// "max_usage", "memory.peak", "VmHWM", or "largest sample" (an estimate)
	PeakSource  string `json:"peak_source"`
	Limit       int64  `json:"limit_bytes,omitempty" advance:"no"` // 0: none
	OOMKills    int64  `json:"oom_kills,omitempty"`
	LimitHits   *int64 `json:"limit_hits,omitempty"`   // number of times the limit was hit and memory had to be reclaimed
	MajorFaults *int64 `json:"major_faults,omitempty"` // pages read from disk
	MinorFaults *int64 `json:"minor_faults,omitempty"` // pages that were in memory, or new
	// pages evicted for lack of memory and needed again
	Refaults *int64 `json:"refaults,omitempty"`
	// peak memory since the start of the step, if the kernel can reset it
	StepPeak     *int64 `json:"step_peak_bytes,omitempty" advance:"no"`
	PeakIsSample bool   `json:"peak_is_sample,omitempty"` // the peak is the largest sample; the true peak may be higher
}

// LogLine is one line of an instance's log. Text is not trusted: escape it before showing it on a
// terminal or in HTML. It is bounded and has no line end.
type LogLine struct {
	At     time.Time `json:"at"`
	Stream string    `json:"stream"` // stdout, stderr
	Text   string    `json:"text"`
	// LeftOut is how many lines of an excerpt were left out here; Text says so. 0: a line of the
	// log.
	LeftOut int `json:"left_out,omitempty"`
}
