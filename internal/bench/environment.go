package bench

// Machine is what the figures depend on and nobody can choose.
type Machine struct {
	OS            string `json:"os"`
	Arch          string `json:"arch"`
	Kernel        string `json:"kernel,omitempty"`
	CPUModel      string `json:"cpu_model,omitempty"`
	CPUs          int    `json:"cpus"`
	MemoryBytes   int64  `json:"memory_bytes,omitempty"`
	Governor      string `json:"governor,omitempty"`
	CgroupVersion int    `json:"cgroup_version,omitempty"` // 1, 2; 0 unknown
	Load1         string `json:"load_1m,omitempty"`        // before the run
	Turbo         string `json:"turbo,omitempty"`          // on, off
	SMT           string `json:"smt,omitempty"`            // on, off
	Virtual       string `json:"virtual,omitempty"`        // what runs this machine; none to be seen where it is absent
	SwapUsed      *int64 `json:"swap_used_bytes,omitempty"`
	// how often CPUs were slowed down for their heat since the machine was started
	Throttles *int64 `json:"thermal_throttles,omitempty"`

	// that ran before the run and are not its own: how many, and some names
	OtherContainers string `json:"other_containers,omitempty"`
}

// Software is what was in use besides the contenders.
type Software struct {
	Locbench      string `json:"locbench"`
	Go            string `json:"go"`
	Docker        string `json:"docker,omitempty"`
	DockerAPI     string `json:"docker_api,omitempty"`
	Elasticsearch string `json:"elasticsearch,omitempty"`
}

// StoreInfo is the store in use.
type StoreInfo struct {
	Kind    StoreKind `json:"kind"`
	URL     string    `json:"url,omitempty"` // as seen from this machine, without user info
	Seen    string    `json:"seen_by_contender,omitempty"`
	Version string    `json:"version,omitempty"`
}

// DataInfo is the data set in use.
type DataInfo struct {
	Name    string `json:"name"` // "bundled", "generated 100000 × 60, seed 1", or the folder
	Cities  int    `json:"cities"`
	Regions int    `json:"regions"`
	Hash    string `json:"hash,omitempty"` // of the content
}
