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

// processor describes this machine's processor: from /proc/cpuinfo, or else by the host name.
func processor() string {
	data, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		host, _ := os.Hostname() // without a name all such machines count as one
		return host
	}
	return processorOf(data)
}

// processorLine matches the lines of x86, ARM, POWER, RISC-V and S/390 that say which code runs.
var processorLine = regexp.MustCompile(`(?m)^(vendor_id|cpu family|model|model name|flags|` +
	`CPU implementer|CPU architecture|CPU variant|CPU part|Features|` +
	`cpu|revision|isa|uarch|features)\s*:.*$`)

// processorOf returns these lines for the first processor in a /proc/cpuinfo, without those that
// change between readings, such as its frequency.
func processorOf(cpuinfo []byte) string {
	first, _, _ := bytes.Cut(cpuinfo, []byte("\n\n"))
	return string(bytes.Join(processorLine.FindAll(first, -1), []byte("\n")))
}
