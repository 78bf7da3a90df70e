package bench

// The names of the lifecycle checks, as profiles list them under checks.lifecycle and as
// CheckResult.Name of the group "lifecycle" begins with them (a check with several readings adds to
// it, for example "threads (1 CPU)").
const (
	CheckNoEnvironment = "no-environment" // ends by itself with an error when its environment is missing
	CheckNoStore       = "no-store"       // ends by itself with an error when its store cannot be reached
	CheckLogsPort      = "logs-port"      // names its port in the log at start-up
	CheckLogsRequests  = "logs-requests"  // logs every request with its path
	CheckImageSize     = "image-size"     // of the image, or of the binary
	CheckThreads       = "threads"        // processes and threads under three CPU limits
	CheckStillResponds = "still-answers"  // answers after the last step
	CheckStops         = "stops"          // ends gracefully when asked to
)

// LifecycleChecks returns the names of all lifecycle checks in the order in which they are shown.
func LifecycleChecks() []string {
	return []string{
		CheckNoEnvironment, CheckNoStore, CheckLogsPort, CheckLogsRequests, CheckImageSize, CheckThreads, CheckStillResponds,
		CheckStops,
	}
}
