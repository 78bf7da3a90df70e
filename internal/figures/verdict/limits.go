package verdict

import "time"

// The thresholds of all judgements, each with its reason. Shares are from 0 to 1. What looks alike
// has two values where it means two things: worth a word, and enough to have decided about a figure.
const (
	usedUp     = 0.90 // of a quota, a CPU set, or a machine, counts as all of it: a step has ends at which nothing runs
	throttling = 0.50 // of the periods: the quota bound whenever there was work, whatever its mean use
	fullyBusy  = 0.92 // of all CPUs together: with two, as busy as a client that waits at times can make them
	nearlyBusy = 0.88 // of all CPUs: the contender has left hardly any idle

	saturated = 0.95 // of the time: beyond it requests wait for a thread of the client
	// suspected is of the client's CPUs. It is less than usedUp, which makes it the bound: requests
	// wait before a CPU is never idle.
	suspected = 0.80
	// late is of an open loop's requests that were late, waited for a connection, or were dropped: as
	// many as do not move p99 by much. The rate was kept then, and neither client nor connections decided.
	late = 0.01

	otherWork  = 0.10 // of all CPUs, of work that is not of the run: worth a word
	crowded    = 0.20 // the same on a busy machine: it kept the contender from its quota
	stealSeen  = 0.02 // of the CPUs' time for other virtual machines: the highest latencies may be theirs
	stealBinds = 0.10 // the same: the throughput is theirs too

	longStall   = 20 * time.Millisecond // of the machine: long enough to be the highest latency
	shortStalls = 0.005                 // of a step, of shorter ones: they are within p99 and p999 then

	restless = 0.05 // CPUs that a waiting contender may use: more is missing to the others
	busyLoad = 0.5  // average load per CPU before a run from which on others were at work

	waiting  = 0.60 // of what is in flight: whoever holds it decides about the latency
	more     = 1.10 // times the throughput: clearly more, beyond the noise of short steps
	muchMore = 2.00 // the same: the store and the machine, however busy, had it to give
	sameTime = 1.50 // times the latency of fewer connections: nobody waits yet

	mostErrors = 0.50 // of the requests: they leave no throughput to speak of
	// ErrorsMatter is the share of failed requests that is worth a word next to the figures.
	ErrorsMatter = 0.001

	refaulting     = 0.10 // pages for each response were read back: so often somebody waited
	atLimit        = 0.98 // as near as the high-water mark comes: the kernel charges several pages at once
	memorySeen     = 0.95 // of the memory limit in use: worth a word, met or not
	throttlingSeen = 0.10 // of the periods: worth a word, they are in the highest tenth of the latencies

	fewResponses    = 100                  // for Little's law: the ends weigh too much
	littleTolerance = 0.05                 // of what is in flight, by which two records of it may differ
	littleSlack     = 5 * time.Microsecond // of each response, by which they may differ besides: the handling of a batch
	steadyWithin    = 0.1                  // by which throughput × mean latency may differ in a steady state
	growingBacklog  = 1.5                  // times the usual number in flight at the end; more is a queue that grows
)
