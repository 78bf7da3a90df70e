package launch

import (
	"bufio"
	"bytes"
	"strings"
)

// processAilment is "" unless the process is stopped.
func processAilment(pid int) string {
	s, err := readStat(pid)
	if err != nil {
		return ""
	}
	switch s.state {
	case 'T':
		return "its process is stopped by a signal from outside (SIGSTOP)"
	case 't':
		return "its process is held by a debugger"
	}
	return ""
}

// networkAilment is "" unless no interface of the process's network but loopback has a route: the
// kernel takes the routes of an interface away when it goes down.
func networkAilment(pid int) string {
	data, err := readProc(pid, "net/route")
	if err != nil {
		return ""
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		if f := strings.Fields(lines.Text()); len(f) > 1 && f[0] != "Iface" && f[0] != "lo" {
			return ""
		}
	}
	return "its network was cut from outside: no interface of it is up"
}
