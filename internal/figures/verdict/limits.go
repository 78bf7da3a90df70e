package verdict

import (
	"time"
)

// The limits of all warnings and bottlenecks, each with its reason. Shares are from 0 to 1. Some
// have two values: one worth a warning, and one that decides about a bottleneck.
const (
	usedUp     = 0.90 // of a quota, CPU set or machine counts as all of it: less runs at the ends of a step
	throttling = 0.50 // of the periods: the quota was the limit whenever there was work
	fullyBusy  = 0.92 // of all CPUs: the most that a client which sometimes waits reaches on two CPUs
	nearlyBusy = 0.88 // of all CPUs: hardly any idle time left

	saturated = 0.95 // of the time: above it requests wait for a thread of the client
	// suspected is a share of the client's CPUs. Requests wait before the CPUs are used up, so it
	// is less than usedUp.
	suspected = 0.80
	// late is a share of an open loop's requests that were late, waited for a connection or were
	// dropped. Up to it p99 hardly changes, and the rate counts as kept.
	late = 0.01

	notLookedAt  = 0.10 // of the bodies to compare: a share of the responses about which nothing is known
	rejectedSeen = 0.01 // of the requests: worth a word, as throughput and latency leave them out

	otherWork  = 0.10 // of all CPUs, by other programs: worth a word
	ofLog      = 0.01 // CPUs of the engine for the contender's log: worth a word on a busy machine
	crowded    = 0.20 // of all CPUs, by other programs on a busy machine: the contender did not get its quota
	stealSeen  = 0.02 // of the CPU time taken by other VMs: the highest latencies may come from it
	stealBinds = 0.10 // of the CPU time taken by other VMs: it also limits throughput

	longStall   = 20 * time.Millisecond // of one machine stall: long enough to be the highest latency
	shortStalls = 0.005                 // of a step, in shorter machine stalls: they affect p99 and p99.9

	busyWaiting = 0.05 // CPUs that a contender may use between its slices: more slows the others
	busyLoad    = 0.5  // load average per CPU before a run, above which the machine was busy

	// diskWaits is a share of the time in which any thread waited for a disk. From half on, a
	// request that has to wait for it does little else.
	diskWaits = 0.50
	coldReads = 0.01 // reads from disk per response: p99 has them
	fewReads  = 10   // reads from disk in a step: with fewer, p99 hardly changes

	// muchLonger is × the typical latency: from there on first responses are more than the queue
	// of a service that takes its time for each response.
	muchLonger = 5
	// moreThreads is × the threads, and someThreads a number of them: a pool that grows by less has
	// not kept connections waiting.
	moreThreads, someThreads = 1.5, 10
	// someRises is how many readings of a step have more threads than the one before: a pool for
	// which each request starts a thread has all of them at once.
	someRises = 3
	// hardly is a share of CPUs: who uses less gets it on a busy machine, too. inProportion is × the
	// ratio of the connections by which latency grows if requests only queue.
	hardly, inProportion = 0.25, 0.8
	idleShare            = 0.5 // of the CPUs that a contender may use: with less in use its requests wait for something else

	// Shares of a contender's CPU time at which the collector, and the compilers in a measured step,
	// are a cause. A collector took up to 29% with a heap that is small but not full, and 49% and
	// more with a full one (docs/decisions/2026-11-29-causes.md).
	muchCollected, muchCompiled = 0.40, 0.15
	pausing                     = 0.10 // CPUs of the collector: requests wait a tenth of the time, also where CPUs are left

	// sentAgain is a share of the requests. A close that crosses with a request is a matter of
	// microseconds, once per connection at most: below it, idle timeouts explain it.
	sentAgain = 0.001
	// longDrain and muchLongerDrain × the maximum of the interval: below the first, a pause of the
	// scheduler or a collector; below the second, the maximum says as much.
	longDrain, muchLongerDrain = 100 * time.Millisecond, 2

	// A delayed acknowledgment takes 40 ms on Linux, and a little more until its response is read.
	// delayed is a share of the responses that took that long, and someDelayed a number of them;
	// those that took almost as long are few (times fewer): a load, a pause or a slow service
	// spreads its latencies.
	delayedFrom, delayedTo = 39 * time.Millisecond, 46 * time.Millisecond
	delayed, someDelayed   = 0.01, 10
	fewer                  = 10
	idle                   = 0.05 // of the periods throttled: the quota's own pauses are as long

	threadFull = 0.95 // of the time: above it requests wait for a thread of the contender
	queueEach  = 8    // connections for each CPU of the machine: whether it is busy does not depend on when each request comes
	manyEach   = 2    // connections for each CPU that the contender may use: requests queue

	waiting  = 0.60 // of the requests in flight: the component that holds them decides about latency
	more     = 1.10 // × throughput: clearly more, beyond the noise of short steps
	muchMore = 2.00 // × throughput: needs and machine, however busy, had capacity left
	sameTime = 1.50 // × latency of fewer connections: requests do not queue yet

	mostErrors = 0.50 // of the requests: too little throughput is left
	// ErrorsMatter is the error rate that is worth a word next to the results.
	ErrorsMatter = 0.001

	refaulting = 0.10 // pages reread per response: often enough to slow responses
	atLimit    = 0.98 // of the limit is as near as the peak comes: the kernel charges several pages at once

	fewResponses    = 100                  // minimum for Little's law: with fewer the ends weigh too much
	littleTolerance = 0.05                 // of the requests in flight, by which two counts may differ
	littleSlack     = 5 * time.Microsecond // per response, by which they may differ in addition: the handling of a batch
	steadyWithin    = 0.1                  // share by which throughput × mean latency may differ in a steady state
	growingBacklog  = 1.5                  // × usual number in flight at the end; more is a growing backlog
)
