package bench

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"time"
)

// NeedOrigin is where a need comes from.
type NeedOrigin string

// The origins of needs. Each kind of need has some of them.
const (
	NeedAuto      NeedOrigin = "auto"      // external if a URL was given, else the kind's default
	NeedEmbedded  NeedOrigin = "embedded"  // it runs in the locbench process
	NeedExternal  NeedOrigin = "external"  // it runs already, at a URL
	NeedContainer NeedOrigin = "container" // it is started for this run
	NeedNone      NeedOrigin = "none"      // the contenders do without, or have theirs
)

// NeedTraits are the properties of an origin. Other code decides by them, not by the origin.
type NeedTraits struct {
	InClient  bool // it runs in the client and uses its CPU time
	Container bool // it runs in a container and may have a separate CPU set
	ByURL     bool // it runs at a URL; locbench does not start it
	None      bool // there is none
}

// Traits returns the properties of the origin.
func (o NeedOrigin) Traits() NeedTraits {
	return NeedTraits{
		InClient: o == NeedAuto || o == NeedEmbedded, Container: o == NeedContainer,
		ByURL: o == NeedExternal, None: o == NeedNone,
	}
}

// NeedSpec is what a profile or a manifest says of a service that the contenders need.
type NeedSpec struct {
	Name string     `json:"name"`
	Kind string     `json:"kind"`
	From NeedOrigin `json:"from"`
	URL  string     `json:"url,omitempty"` // of an external one
	// everything else, in the form of its kind
	Of NeedForm `json:"of,omitzero"`
	// In a run: the contenders that get it; empty: all.
	For []Selection `json:"for,omitempty"`
	// In a run: the contender, without its variant, that has it for itself; "": it is shared.
	Service string `json:"service,omitempty"`
	// In a run: only manifests define it.
	Manifest bool `json:"manifest,omitempty"`
	// In a run: it starts again for each trial.
	Restarts bool `json:"restarts,omitempty"`
	// In a run: each of its interleaved contenders has its own copy.
	Own bool `json:"own,omitempty"`
}

// NeedPart is a file, a folder or an image that a need is made of, with its content at the start of
// the run.
type NeedPart struct {
	Need  string `json:"need"`           // its label
	Key   string `json:"key"`            // where the need names it: "seed[0]", "dockerfile", "image"
	File  string `json:"file,omitempty"` // path of a file or folder
	Image string `json:"image,omitempty"`
	Hash  string `json:"hash"` // SHA-256 of the content; of an image its ID
}

// Name returns the file without its folder, or the image.
func (p NeedPart) Name() string {
	if p.Image != "" {
		return p.Image
	}
	return filepath.Base(p.File)
}

// Label returns the name of the need in a run: "db", or "db of bookings".
func (n NeedSpec) Label() string { return needLabel(n.Name, n.Service) }

// Gets reports whether a contender gets the need.
func (n NeedSpec) Gets(sel Selection) bool { return len(n.For) == 0 || slices.Contains(n.For, sel) }

func needLabel(name, service string) string {
	if service == "" {
		return name
	}
	return name + " of " + service
}

// EnvNames returns the environment variables of the need.
func (n NeedSpec) EnvNames() (all []string) {
	for _, text := range n.Texts() {
		all = append(all, EnvNames(text)...)
	}
	return all
}

// Texts returns all texts of the need, such as paths and values of its environment.
func (n NeedSpec) Texts() (all []string) {
	var of any
	_ = json.Unmarshal(n.Of.JSON(), &of) // a need without its own keys has none
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			all = append(all, v)
		case []any:
			for _, item := range v {
				walk(item)
			}
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				walk(v[name])
			}
		}
	}
	walk(of)
	return append(all, n.URL)
}

// NeedStep is what a need used in a step. What is not known is nil.
type NeedStep struct {
	Between time.Duration // between the two readings
	CPU     *Duration     // outside the client
	// each without what the need used before the step
	Throttling *Throttling
	Pressure   *Pressure
	Network    *Network
	Disk       *Disk
	Memory     *Memory // at the end of the step
	BusyThread float64 // share of the step in which the busiest of its threads ran, 0 to 1; 0: not known
	OOMKills   int64   // processes that the kernel killed in the step, for lack of memory
}

// Need returns what a need used in the step; the zero value if it is not known.
func (s StepResult) Need(name string) (n NeedStep) {
	b, a, ok := ends(s.HostBefore, s.HostAfter, need(name))
	if n.Between = a.At.Sub(b.At); !ok || n.Between <= 0 || a.Source != b.Source || a.CPU < b.CPU {
		return NeedStep{}
	}
	if a.Source != EmbeddedSource {
		n.CPU = new(a.CPU - b.CPU)
	}
	if a.BusiestThread != nil {
		n.BusyThread = min(1, float64(*a.BusiestThread)/float64(n.Between))
	}
	if t, ok := s.NeedThrottling(name); ok {
		n.Throttling = &t
	}
	n.Pressure, n.Disk, n.Memory = a.Pressure.since(b.Pressure), a.Disk.since(b.Disk), a.Memory
	if a.Network != nil && b.Network != nil {
		if in, out, ok := networkBetween(*b.Network, *a.Network, true); ok {
			n.Network = &Network{a.Network.Source, in, out}
		}
	}
	if a.Memory != nil && b.Memory != nil {
		n.OOMKills = max(0, a.Memory.OOMKills-b.Memory.OOMKills)
	}
	return n
}

// DiskWait returns the share of the step in which at least one of its threads waited for a disk.
func (n NeedStep) DiskWait() (share float64, ok bool) { return waitShare(n.Pressure, n.Between) }
