package bench

// Runtime names how a contender is started.
type Runtime string

// The runtimes.
const (
	RuntimeAuto    Runtime = "auto"
	RuntimeDocker  Runtime = "docker"
	RuntimeProcess Runtime = "process"
	RuntimeURL     Runtime = "url" // a running service (--target)
)

// RuntimeTraits are the properties of a runtime. Other code decides by them, not by the runtime.
type RuntimeTraits struct {
	Help           string // one line of help; "" if it cannot be chosen
	Where          string // where a contender runs, as text; "" for a target
	Auto           bool   // locbench chooses another runtime for it
	Container      bool   // contenders run in containers
	OnHost         bool   // contenders are processes on this machine
	AlreadyRunning bool   // locbench neither starts nor stops the contenders
}

// traits are the properties of all kinds K, in display order.
type traits[K ~string, T any] []struct {
	kind K
	of   T
}

// names returns the names of the kinds for which chosen returns true.
func (all traits[K, T]) names(chosen func(T) bool) (names []string) {
	for _, known := range all {
		if chosen(known.of) {
			names = append(names, string(known.kind))
		}
	}
	return names
}

// get returns the properties of a kind; the zero value for an unknown kind.
func (all traits[K, T]) get(kind K) (none T) {
	for _, known := range all {
		if known.kind == kind {
			return known.of
		}
	}
	return none
}

// runtimes lists the runtimes in display order. Packages platform and launch start contenders.
var runtimes = traits[Runtime, RuntimeTraits]{
	{RuntimeAuto, RuntimeTraits{Help: "Docker if available, else processes", Auto: true}},
	{RuntimeDocker, RuntimeTraits{Help: "containers: limits as in a cluster", Where: "in a container", Container: true}},
	{RuntimeProcess, RuntimeTraits{Help: "processes of this machine: needs the contender's toolchain",
		Where: "as a process", OnHost: true}},
	{RuntimeURL, RuntimeTraits{AlreadyRunning: true}},
}

// Runtimes returns the names of the runtimes that can be chosen.
func Runtimes() []string { return runtimes.names(func(t RuntimeTraits) bool { return t.Help != "" }) }

// Traits returns the properties of the runtime.
func (r Runtime) Traits() RuntimeTraits { return runtimes.get(r) }
