package bench

// Machine describes the machine that a run was made on, and its state before the run.
type Machine struct {
	OS            string `json:"os"`
	Arch          string `json:"arch"`
	Kernel        string `json:"kernel,omitempty"`
	CPUModel      string `json:"cpu_model,omitempty"`
	CPUs          int    `json:"cpus"`
	MemoryBytes   int64  `json:"memory_bytes,omitempty"`
	Governor      string `json:"governor,omitempty"`
	CgroupVersion int    `json:"cgroup_version,omitempty"` // 1 or 2; 0: not known
	Load1         string `json:"load_1m,omitempty"`        // load average over 1 minute before the run
	Turbo         string `json:"turbo,omitempty"`          // on, off
	SMT           string `json:"smt,omitempty"`            // on, off
	// hypervisor or container system that runs this machine; absent: none detected
	Virtual  string `json:"virtual,omitempty"`
	SwapUsed *int64 `json:"swap_used_bytes,omitempty"`
	// number of times CPUs were throttled for heat since the machine was started
	Throttles *int64 `json:"thermal_throttles,omitempty"`

	// containers of others that ran before the run: the number, and some names
	OtherContainers string `json:"other_containers,omitempty"`
}

// Software lists the versions of the software around the contenders.
type Software struct {
	Locbench  string `json:"locbench"`
	Commit    string `json:"locbench_commit,omitempty"`
	Date      string `json:"locbench_date,omitempty"` // of the commit, RFC 3339
	Go        string `json:"go"`
	Docker    string `json:"docker,omitempty"`
	DockerAPI string `json:"docker_api,omitempty"`
}

// NeedInfo describes a service that the contenders need.
type NeedInfo struct {
	Name    string     `json:"name"`
	Service string     `json:"service,omitempty"` // the contender that has it for itself; "": it is shared
	From    NeedOrigin `json:"from"`
	URL     string     `json:"url,omitempty"` // URL for this machine, without user info
	Seen    string     `json:"seen_by_contender,omitempty"`
	Version string     `json:"version,omitempty"`
	Latency string     `json:"latency,omitempty"` // that is added to its responses, in words
}

// Label returns the name of the need: "db", or "db of bookings".
func (n NeedInfo) Label() string { return needLabel(n.Name, n.Service) }

// String returns a phrase: "search: embedded, 7.10.2".
func (n NeedInfo) String() string { return n.Label() + ": " + string(n.From) + ", " + n.Version }

// DataInfo describes the data that the requests of a run use.
type DataInfo struct {
	Name string `json:"name"`           // "bundled", "generated 100000 × 60, seed 1", or the folder
	Size string `json:"size,omitempty"` // how much it is, in words
	Hash string `json:"hash,omitempty"` // hash of the content
}
