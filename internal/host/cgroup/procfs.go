// Parsers of counters in /proc, in addition to those of groups. They treat their input as hostile
// and leave out what makes no sense.

package cgroup

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
)

// Stall reads a file such as
//
//	some avg10=0.00 avg60=0.32 avg300=3.70 total=14118633912
//	full avg10=0.00 avg60=0.00 avg300=0.00 total=0
//
// where total is in microseconds. Before Linux 5.13 the file of the CPU has no second line. Stall
// returns nil if the first line is missing.
func Stall(data []byte) *bench.Stall {
	var s *bench.Stall
	for line := range bytes.Lines(data) {
		kind, rest, _ := bytes.Cut(line, []byte(" "))
		total, ok := stallTotal(rest)
		switch {
		case !ok:
		case string(kind) == "some" && s == nil:
			s = &bench.Stall{Some: total}
		case string(kind) == "full" && s != nil && s.Full == nil:
			s.Full = &total
		}
	}
	return s
}

func stallTotal(fields []byte) (time.Duration, bool) {
	_, value, ok := bytes.Cut(fields, []byte("total="))
	if !ok {
		return 0, false
	}
	n, ok := number(value)
	return time.Duration(n) * time.Microsecond, ok && n <= int64(1<<62/time.Microsecond)
}

// network adds up the bytes of /proc/PID/net/dev over all interfaces but loopback, or of loopback
// if there is no other. ok is false if no line can be read.
func network(data []byte) (received, sent int64, ok bool) {
	var lo [2]int64
	onlyLo := false
	for line := range bytes.Lines(data) {
		name, rest, found := strings.Cut(string(line), ":")
		f := strings.Fields(rest)
		if !found || len(f) < 16 {
			continue // one of the two heading lines
		}
		in, err1 := strconv.ParseInt(f[0], 10, 64)
		out, err2 := strconv.ParseInt(f[8], 10, 64)
		if err1 != nil || err2 != nil || in < 0 || out < 0 || received+in < received || sent+out < sent {
			continue
		}
		if strings.TrimSpace(name) == "lo" {
			lo, onlyLo = [2]int64{in, out}, true
			continue
		}
		received, sent, ok = received+in, sent+out, true
	}
	if !ok && onlyLo {
		return lo[0], lo[1], true
	}
	return received, sent, ok
}

// switches reads the last two lines of /proc/TID/status.
func switches(status []byte) (voluntary, involuntary int64, ok bool) {
	found := 0
	for line := range bytes.Lines(status) {
		name, value, _ := bytes.Cut(line, []byte(":"))
		var to *int64
		switch string(name) {
		case "voluntary_ctxt_switches":
			to = &voluntary
		case "nonvoluntary_ctxt_switches":
			to = &involuntary
		default:
			continue
		}
		n, valid := number(value)
		if !valid {
			return 0, 0, false
		}
		*to = n
		found++
	}
	return voluntary, involuntary, found == 2
}

// numbers reads lines of one number each, as in cgroup.procs, cgroup.threads and tasks, at most
// limit; whole is false if there are more.
func numbers(data []byte, limit int) (ids []int, whole bool) {
	for line := range bytes.Lines(data) {
		n, ok := number(line)
		if !ok || n == 0 || n > math.MaxInt32 { // 0: a process of another namespace
			continue
		}
		if len(ids) == limit {
			return ids, false
		}
		ids = append(ids, int(n))
	}
	return ids, true
}
