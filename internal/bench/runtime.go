package bench

// Runtime names how a contender is started.
type Runtime string

// The runtimes.
const (
	RuntimeAuto    Runtime = "auto"
	RuntimeDocker  Runtime = "docker"
	RuntimeProcess Runtime = "process"
	RuntimeURL     Runtime = "url" // a service somebody else has started (--target)
)

// RuntimeTraits are what a runtime is to the rest of locbench, which asks for them and not for the
// runtime.
type RuntimeTraits struct {
	Help      string // one line, for who chooses; "" where nobody does
	Where     string // where a contender is, in words; "" where it was there before
	Auto      bool   // it stands for another one, which the machine decides
	Container bool   // contenders are in containers of an engine
	OnHost    bool   // contenders are processes of this machine
	Foreign   bool   // somebody else has started what is loaded, and stops it
}

// runtimes are all of them, in the order in which they are offered. How contenders are launched by
// each is in packages platform and launch.
var runtimes = []struct {
	runtime Runtime
	traits  RuntimeTraits
}{
	{RuntimeAuto, RuntimeTraits{Help: "Docker where an engine answers, else processes", Auto: true}},
	{RuntimeDocker, RuntimeTraits{Help: "containers: limits as in a cluster", Where: "in a container", Container: true}},
	{RuntimeProcess, RuntimeTraits{Help: "processes of this machine: needs the contender's toolchain", Where: "as a process", OnHost: true}},
	{RuntimeURL, RuntimeTraits{Foreign: true}},
}

// Runtimes are the names of those that can be chosen.
func Runtimes() (names []string) {
	for _, r := range runtimes {
		if r.traits.Help != "" {
			names = append(names, string(r.runtime))
		}
	}
	return names
}

// Choices are all texts that a profile may have for a runtime.
func (Runtime) Choices() (names []string) {
	for _, r := range runtimes {
		names = append(names, string(r.runtime))
	}
	return names
}

// Traits are those of the runtime; none of them for one that is not known, as of another version.
func (r Runtime) Traits() RuntimeTraits {
	for _, known := range runtimes {
		if known.runtime == r {
			return known.traits
		}
	}
	return RuntimeTraits{}
}
