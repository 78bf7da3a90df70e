// Package apart runs the load of a whole run in a separate process of the same binary, which gets
// plans and returns results over two pipes. Nothing else happens there, so threads that drive load
// wait without the Go scheduler (thread.Wait), nothing is collected while a step is measured, and no
// signal of the runtime ends a wait.
package apart

import (
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/load"
)

// Command is the argument that makes locbench that process.
const Command = "load-process"

// The calls of the parent. The reply to callRun comes at its end.
const (
	callHello  = "hello"
	callRun    = "run"
	callRest   = "rest"   // closes the connections that are kept for a trial
	callStalls = "stalls" // the machine's stalls since the last such call; the first one begins to watch
	noticeStop = "stop"
)

// The calls of the load's process.
const (
	callStart      = "start" // see load.Plan.OnStart
	callEnd        = "end"
	callInterleave = "interleave"
	noticeWindow   = "window"
	noticePart     = "part"
)

type hello struct {
	Version int `json:"version"`
}

// order is a step to be run.
type order struct {
	Run         uint64       `json:"run"` // number of the run, in all other calls about it
	Trial       string       `json:"trial"`
	Engine      bench.Engine `json:"engine"`
	Plan        load.Plan    `json:"plan"`
	Parts       bool         `json:"parts"`
	Interleaved bool         `json:"interleaved"`
}

// outcome is what a run has left.
type outcome struct {
	Load  bench.Load       `json:"load"`
	State *load.TrialState `json:"state"`
	Error string           `json:"error"`
}

// about is what notices and short calls about a run have.
type about struct {
	Run    uint64       `json:"run"`
	Window bench.Window `json:"window,omitzero"`
}

// turn is a call of a method of bench.Interleaving, and its result.
type turn struct {
	Run    uint64        `json:"run"`
	Method string        `json:"method"`
	Length time.Duration `json:"length_ns"`
	At     time.Time     `json:"at"`
	Text   string        `json:"text"`
	Yes    bool          `json:"yes"`
}
