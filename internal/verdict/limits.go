package verdict

import "time"

// The thresholds of all judgements, each with its reason. Shares are from 0 to 1. What looks alike
// has two values where it means two things: worth a word, and enough to have decided about a figure.
const (
	// usedUp is the share of a quota, of a CPU set, or of a machine for one party alone, that
	// counts as all of it. Counters are exact, but a step has ends at which nothing runs.
	usedUp = 0.90
	// throttling is the share of the periods: the quota bound whenever there was work, whatever its
	// mean use.
	throttling = 0.50
	// fullyBusy is the share of all CPUs together: with two of them, as busy as a client that waits
	// at times can make them.
	fullyBusy = 0.92
	// nearlyBusy is the share of all CPUs from which on the contender has left hardly any idle.
	nearlyBusy = 0.88

	// saturated is the share of the time beyond which requests wait for a thread of the client.
	saturated = 0.95
	// suspected is the share of its CPUs beyond which the client is suspected. It is less than
	// usedUp, which makes it the bound: requests wait before a CPU is never idle.
	suspected = 0.80
	// late is the share of an open loop's requests that may be sent late, or wait for a connection,
	// or be dropped: as many as do not move p99 by much. The rate was kept then, and neither client
	// nor connections decided.
	late = 0.01

	// otherWork is the share of all CPUs from which on work that is not of the run is worth a word.
	otherWork = 0.10
	// crowded is that share from which on such work, on a busy machine, is what kept the contender
	// from its quota.
	crowded = 0.20
	// stealSeen is the share of the CPUs' time for other virtual machines from which on the highest
	// latencies may be theirs, and stealBinds from which on the throughput is theirs too.
	stealSeen  = 0.02
	stealBinds = 0.10
	// longStandstill is how long a standstill of the machine must be to be the highest latency.
	longStandstill = 20 * time.Millisecond
	// standstills is the share of a step, of shorter ones: they are within p99 and p999 then.
	standstills = 0.005
	// restless is how many CPUs a waiting contender may use; more is missing to the others.
	restless = 0.05
	// BusyLoad is the load average per CPU before a run from which on others were at work.
	BusyLoad = 0.5

	// waiting is the share of what is in flight: whoever holds it decides about the latency.
	waiting = 0.60
	// more is how many times the throughput is clearly more, beyond the noise of short steps;
	// muchMore is so much that the store and the machine, however busy, had it to give.
	more     = 1.10
	muchMore = 2.00
	// sameTime is how many times the latency of fewer connections still means that nobody waits.
	sameTime = 1.50

	// mostErrors is the share of failed requests that leaves no throughput to speak of.
	mostErrors = 0.50
	// ErrorsExclude is the share of failed requests at the peak from which on a contender is
	// compared by nothing that requests make: failures are faster or slower than answers.
	ErrorsExclude = 0.01
	// ErrorsMatter is the share of failed requests that is worth a word beside the figures.
	ErrorsMatter = 0.001

	// refaulting is how many pages for each answer were read back: so often somebody waited.
	refaulting = 0.10
	// atLimit is as near as the high-water mark comes: the kernel charges several pages at once.
	atLimit = 0.98
	// memorySeen is the share of the memory limit in use that is worth a word, met or not.
	memorySeen = 0.95
	// throttlingSeen is the share of throttled periods that is worth a word: they are in the
	// highest tenth of the latencies.
	throttlingSeen = 0.10

	// fewAnswers is below how many answers Little's law is not applied: the ends weigh too much.
	fewAnswers = 100
	// littleTolerance is the share of what is in flight by which two records of it may differ.
	littleTolerance = 0.05
	// littleSlack is by how much of each answer they may differ besides: the handling of a batch.
	littleSlack = 5 * time.Microsecond
	// steadyWithin is by which share throughput × mean latency may differ in a steady state.
	steadyWithin = 0.1
	// growingBacklog is how many times the usual number in flight may be left at the end; more is a
	// queue that grows.
	growingBacklog = 1.5
)
