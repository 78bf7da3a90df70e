package bench

// The names of the lifecycle checks in profiles, under checks.lifecycle. In the group "lifecycle"
// CheckResult.Name starts with them; a check with several readings adds to the name, such as
// "threads (1 CPU)".
const (
	CheckNoEnvironment = "no-environment" // exits with an error if its environment is missing
	CheckNoNeeds       = "no-store"       // exits with an error if a need cannot be reached
	CheckLogsPort      = "logs-port"      // logs its port at start-up
	CheckLogsRequests  = "logs-requests"  // logs every request with its path
	CheckImageSize     = "image-size"     // size of the image or binary
	CheckThreads       = "threads"        // processes and threads under three CPU limits
	CheckStillResponds = "still-responds" // responds after the last step
	CheckStops         = "stops"          // stops gracefully on SIGTERM
)

// LifecycleChecks returns the names of all lifecycle checks in display order.
func LifecycleChecks() []string {
	return []string{
		CheckNoEnvironment, CheckNoNeeds, CheckLogsPort, CheckLogsRequests, CheckImageSize, CheckThreads, CheckStillResponds,
		CheckStops,
	}
}
