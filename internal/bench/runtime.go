package bench

// Runtime names how a contender is started.
type Runtime string

const (
	RuntimeAuto    Runtime = "auto"
	RuntimeDocker  Runtime = "docker"
	RuntimeProcess Runtime = "process"
	RuntimeURL     Runtime = "url" // a service somebody else has started (--target)
)

// RuntimeTraits are what a runtime is to the rest of locbench, which asks for them and not for the
// runtime.
type RuntimeTraits struct {
	Help           string // one line, for who chooses; "" where nobody does
	Where          string // where a contender is, in words; "" where it was there before
	Auto           bool   // it stands for another one, which the machine decides
	Container      bool   // contenders are in containers of an engine
	OnHost         bool   // contenders are processes of this machine
	AlreadyRunning bool   // somebody else has started what is loaded, and stops it
}

// traits are those of all kinds of a thing, in the order in which they are offered.
type traits[K ~string, T any] []struct {
	kind K
	of   T
}

// names returns those of the kinds that can be chosen.
func (all traits[K, T]) names(chosen func(T) bool) (names []string) {
	for _, known := range all {
		if chosen(known.of) {
			names = append(names, string(known.kind))
		}
	}
	return names
}

// get returns none for a kind that is not known, as of another version.
func (all traits[K, T]) get(kind K) (none T) {
	for _, known := range all {
		if known.kind == kind {
			return known.of
		}
	}
	return none
}

// How contenders are launched by each is in packages platform and launch.
var runtimes = traits[Runtime, RuntimeTraits]{
	{RuntimeAuto, RuntimeTraits{Help: "Docker where an engine answers, else processes", Auto: true}},
	{RuntimeDocker, RuntimeTraits{Help: "containers: limits as in a cluster", Where: "in a container", Container: true}},
	{RuntimeProcess, RuntimeTraits{Help: "processes of this machine: needs the contender's toolchain",
		Where: "as a process", OnHost: true}},
	{RuntimeURL, RuntimeTraits{AlreadyRunning: true}},
}

// Runtimes returns the names of those that can be chosen.
func Runtimes() []string { return runtimes.names(func(t RuntimeTraits) bool { return t.Help != "" }) }

// AllRuntimes returns all names that a profile may have.
func AllRuntimes() []string { return runtimes.names(func(RuntimeTraits) bool { return true }) }

// Traits returns those of the runtime.
func (r Runtime) Traits() RuntimeTraits { return runtimes.get(r) }
