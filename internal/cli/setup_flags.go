package cli

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"locbench/internal/bench"
	"locbench/internal/dataset"
	"locbench/internal/exit"
)

// planFlags are the options of locbench run that the set-up screen needs beside the others: everything that can be chosen there can
// be said on the command line too.
type planFlags struct {
	http2    bool
	cpuSet   int
	data     string
	cities   int
	vertices int
	dataSeed uint64
}

// bundledData is what --data calls the data set that comes along; a folder of that name is ./bundled.
const bundledData = "bundled"

// bundledSuite is the suite of checks that knows the bundled data and no other.
const bundledSuite = "locations"

func (f *planFlags) bind(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.BoolVar(&f.http2, "http2", false, "load in HTTP/2: over TLS where the target's address is one of https, else from the first byte; one request at a time on each connection")
	fl.IntVar(&f.cpuSet, "cpu-set", 0, "let a contender run on so many different CPUs, or on as many as there are")
	fl.StringVar(&f.data, "data", "", "the dump in this `DIR` (see 'locbench seed --help'), or bundled; other data than the bundled goes without the suite "+bundledSuite)
	fl.IntVar(&f.cities, "cities", 0, "generate so many cities (1 to 1,000,000) instead of taking the bundled data")
	fl.IntVar(&f.vertices, "vertices", 60, "of each shape that --cities generates")
	fl.Uint64Var(&f.dataSeed, "data-seed", 1, "of the data that --cities generates; the same seed gives the same data")
	_ = cmd.RegisterFlagCompletionFunc("data", completeData)
	_ = cmd.RegisterFlagCompletionFunc("cpu-set", cobra.NoFileCompletions)
	_ = cmd.RegisterFlagCompletionFunc("cities", cobra.NoFileCompletions)
}

func completeData(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{bundledData + "\tthe cities that come along"}, cobra.ShellCompDirectiveDefault // folders too
}

// apply changes p as the flags say.
func (f *planFlags) apply(p *bench.Profile, changed func(string) bool) error {
	if changed("http2") {
		p.Protocol = bench.HTTP11
		if f.http2 {
			p.Protocol = bench.HTTP2
		}
	}
	if changed("cpu-set") {
		if f.cpuSet < 1 {
			return exit.Usagef("--cpu-set %d: at least 1 CPU", f.cpuSet)
		}
		p.Limits.CPUSet = f.cpuSet
	}
	switch {
	case changed("data") && changed("cities"):
		return exit.Usagef("--data names a data set, --cities generates one: choose one")
	case changed("data") && f.data == "":
		return exit.Usagef("--data: a folder is missing; write one with a dump, or %s", bundledData)
	case changed("cities") && (f.cities < 1 || f.cities > dataset.MaxGenerated):
		return exit.Usagef("--cities %d: from 1 to 1,000,000", f.cities)
	case !changed("cities") && (changed("vertices") || changed("data-seed")):
		return exit.Usagef("--vertices and --data-seed go with --cities: other data are what they are")
	case changed("cities"):
		p.Data = bench.DataSpec{Cities: f.cities, Vertices: f.vertices, Seed: f.dataSeed}
	case changed("data") && f.data == bundledData:
		p.Data = bench.DataSpec{}
		return nil
	case changed("data"):
		p.Data = bench.DataSpec{Dir: f.data}
	default:
		return nil
	}
	p.Checks.Suites = slices.DeleteFunc(slices.Clone(p.Checks.Suites), func(suite string) bool { return suite == bundledSuite })
	if len(p.Checks.Suites) == 0 {
		p.Checks.Suites = nil
	}
	return nil
}

// flagError says what would be right where a flag's value cannot even be read; other errors of flags stay as they are.
func flagError(err error) error {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return err
	}
	want := map[string]string{
		"int": "write a whole number, such as 6", "uint64": "write a whole number that is not negative, such as 6",
		"float64": "write a number, such as 1.5", "duration": "write a number with its unit, such as 10s",
	}[invalid.GetFlag().Value.Type()]
	if want == "" {
		return err
	}
	return fmt.Errorf("--%s %q: %s", invalid.GetFlag().Name, invalid.GetValue(), want)
}
