package setup

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"locbench/internal/bench"
	"locbench/internal/safe"
	"locbench/internal/secret"
)

// Choice is a set-up as the command line says it.
type Choice struct {
	Profile    string            // name or file
	Contenders []bench.Selection // nil: the profile's
	Set        map[string]string // values of the flags in Flags, without their dashes; a value that is there replaces the profile's
	Extra      []string          // other options of locbench run, as they are
}

// Flags are those options of locbench run that have a field on the screen, in the order in which
// they are written.
func Flags() []string {
	return []string{"rounds", "cpus", "cpu-set", "memory", "connections", "duration", "turns", "runtime", "store", "elastic", "data", "cities", "vertices", "data-seed"}
}

func (c Choice) clone() Choice {
	c.Contenders, c.Extra = slices.Clone(c.Contenders), slices.Clone(c.Extra)
	if c.Set = maps.Clone(c.Set); c.Set == nil {
		c.Set = map[string]string{}
	}
	return c
}

// Args are the arguments of "locbench run" that say the same.
func (c Choice) Args() []string {
	args := []string{"--profile", c.Profile}
	for _, sel := range c.Contenders {
		args = append(args, sel.String())
	}
	for _, flag := range Flags() {
		value, ok := c.Set[flag]
		if !ok || flag == "store" && bench.StoreKind(value).Traits().ByURL && c.Set["elastic"] != "" {
			continue // --elastic implies it
		}
		args = append(args, "--"+flag, value)
	}
	return append(args, c.Extra...)
}

// Command is the command line, for a shell.
func (c Choice) Command() string { return commandLine("run", c.Args()) }

func (c Choice) shown() string { return commandLine("run", withoutPasswords(c.Args())) }

// withoutPasswords replaces the passwords of the URLs in args, in place.
func withoutPasswords(args []string) []string {
	for i, arg := range args {
		flag, value, ok := strings.Cut(arg, "=")
		if !ok {
			flag, value = "", arg
		}
		if !strings.Contains(value, "://") {
			continue
		}
		u, err := secret.ParseURL(value)
		switch {
		case (err != nil || u.User == nil) && strings.Contains(value, "@"):
			value = "(URL)"
		case err != nil || u.User == nil:
			continue
		default:
			u.User = url.User("…")
			value = strings.Replace(u.String(), url.User("…").String(), "…", 1)
		}
		if args[i] = value; ok {
			args[i] = flag + "=" + value
		}
	}
	return args
}

func commandLine(command string, args []string) string {
	return safe.Shell(append([]string{"locbench", command}, args...))
}
