package contender

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
)

// nativeArg finds what makes a compiler write code for the processor that it runs on:
// TARGET_CPU=native, -march=native, target-cpu=native.
var nativeArg = regexp.MustCompile(`=native\b`)

// processorFor is what distinguishes processors if one of the arguments asks for code for the one at
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
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		host, _ := os.Hostname() // without a name all such machines are taken for one
		return host
	}
	defer f.Close()
	data, _ := io.ReadAll(io.LimitReader(f, 64<<10)) // only the first processor counts
	return processorOf(data)
}

// processorOf keeps of a /proc/cpuinfo what says which code its first processor understands, and
// leaves out what changes from one reading to the next, such as its frequency.
func processorOf(cpuinfo []byte) string {
	keys := []string{
		"vendor_id", "cpu family", "model", "model name", "flags", // x86
		"CPU implementer", "CPU architecture", "CPU variant", "CPU part", "Features", // ARM
		"cpu", "revision", "isa", "uarch", "features", // POWER, RISC-V, S/390
	}
	var b strings.Builder
	s := bufio.NewScanner(bytes.NewReader(cpuinfo))
	s.Buffer(nil, 64<<10)
	for s.Scan() {
		key, value, ok := strings.Cut(s.Text(), ":")
		if !ok && b.Len() > 0 {
			break // the end of the first processor
		}
		if slices.Contains(keys, strings.TrimSpace(key)) {
			b.WriteString(strings.TrimSpace(key) + ":" + strings.TrimSpace(value) + "\n")
		}
	}
	return b.String()
}
