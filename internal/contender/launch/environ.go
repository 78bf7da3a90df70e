package launch

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
)

// markedProcess is a process with locbench's marks.
type markedProcess struct {
	pid           int
	run, instance string
}

// matchEnv reads the marks in an environment. It reports whether all entries are in it
// ("KEY=value"; "KEY=" for any value).
func matchEnv(env []byte, entries []string) (f markedProcess, ok bool) {
	has := make([]bool, len(entries))
	for entry := range bytes.SplitSeq(env, []byte{0}) {
		s := string(entry)
		for i, e := range entries {
			has[i] = has[i] || s == e || strings.HasSuffix(e, "=") && strings.HasPrefix(s, e)
		}
		switch key, v, _ := strings.Cut(s, "="); key {
		case envRun:
			f.run = v
		case envInstance:
			f.instance = v
		}
	}
	return f, !slices.Contains(has, false)
}

// environIn returns the environment in macOS's kern.procargs2 of a process: the number of arguments
// in 32 bits, the path of the program, zeros, the arguments and the environment, each with a zero
// at its end. The environment is empty if the system hides it.
func environIn(args []byte) (env []byte, ok bool) {
	if len(args) < 4 {
		return nil, false
	}
	n := binary.NativeEndian.Uint32(args)
	_, rest, ok := bytes.Cut(args[4:], []byte{0})
	if !ok || uint64(n) > uint64(len(rest)) {
		return nil, false
	}
	for rest = bytes.TrimLeft(rest, "\x00"); n > 0 && ok; n-- {
		_, rest, ok = bytes.Cut(rest, []byte{0})
	}
	return rest, ok
}
