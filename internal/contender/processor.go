package contender

import (
	"bytes"
	"os"
	"regexp"
	"slices"
)

// nativeArg matches arguments that make a compiler produce code for the processor it runs on:
// TARGET_CPU=native, -march=native, target-cpu=native.
var nativeArg = regexp.MustCompile(`=native\b`)

// processorFor returns a description of the processor if one of the arguments is native, else
// nothing. Native code may not run on another processor, so it must not count as built there.
func (o BuildOptions) processorFor(args []string) []string {
	switch {
	case !slices.ContainsFunc(args, nativeArg.MatchString):
		return nil
	case o.Processor != "":
		return []string{o.Processor}
	}
	return []string{processor()}
}

// processor describes this machine's processor: by the first one in /proc/cpuinfo, without the lines
// that change between readings, or else by the host name.
func processor() string {
	data, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		host, _ := os.Hostname() // without a name all such machines count as one
		return host
	}
	first, _, _ := bytes.Cut(data, []byte("\n\n"))
	return string(changingLine.ReplaceAll(first, nil))
}

// changingLine matches lines of x86, ARM, POWER, RISC-V and S/390 about speed.
var changingLine = regexp.MustCompile(`(?im)^(cpu mhz|bogomips|clock|cpu .*mhz).*$\n?`)
