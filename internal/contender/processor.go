package contender

import (
	"bytes"
	"os"
	"regexp"
	"slices"
)

// nativeArg finds what makes a compiler write code for the processor that it runs on:
// TARGET_CPU=native, -march=native, target-cpu=native.
var nativeArg = regexp.MustCompile(`=native\b`)

// processorFor returns what distinguishes processors if one of the arguments asks for code for the one at
// hand, else nothing: code for one may not run on another, so it must not count as built there.
func (o BuildOptions) processorFor(args []string) []string {
	switch {
	case !slices.ContainsFunc(args, nativeArg.MatchString):
		return nil
	case o.Processor != "":
		return []string{o.Processor}
	}
	return []string{processor()}
}

// processor describes this machine's processor: from /proc/cpuinfo on Linux; elsewhere by the name
// of the machine, whose processor stays.
func processor() string {
	data, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		host, _ := os.Hostname() // without a name all such machines are taken for one
		return host
	}
	return processorOf(data)
}

// processorLine is one that says which code a processor understands: of x86, ARM, and POWER, RISC-V or S/390.
var processorLine = regexp.MustCompile(`(?m)^(vendor_id|cpu family|model|model name|flags|` +
	`CPU implementer|CPU architecture|CPU variant|CPU part|Features|` +
	`cpu|revision|isa|uarch|features)\s*:.*$`)

// processorOf keeps such lines of the first processor in a /proc/cpuinfo, and leaves out what changes from one
// reading to the next, such as its frequency.
func processorOf(cpuinfo []byte) string {
	first, _, _ := bytes.Cut(cpuinfo, []byte("\n\n"))
	return string(bytes.Join(processorLine.FindAll(first, -1), []byte("\n")))
}
