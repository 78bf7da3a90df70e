package load

import (
	"github.com/locbench/locbench/internal/load/wire"
	"github.com/locbench/locbench/internal/load/workload"
	"github.com/locbench/locbench/internal/values"
)

// Plan is one step, and what its requests are made of.
type Plan = workload.Plan

// Response is what Plan.Check gets.
type Response = workload.Response

// MaxChecked is the size in bytes up to which bodies are looked at, packed or unpacked.
const MaxChecked = workload.MaxChecked

type (
	// Data is what requests take from files.
	Data = values.Data
	// TrialState is what the steps of one trial share.
	TrialState = workload.TrialState
)

// ErrNotKnown is what Plan.Check returns if it does not know the expected response: that counts as
// a success, and not as checked.
var ErrNotKnown = workload.ErrNotKnown

// Kept keeps connections open from one step to the next.
type Kept = wire.Kept
