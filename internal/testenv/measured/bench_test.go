//go:build acceptance && linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/testenv/loadtools"
)

// session is what the environment says of a benchmark: ROWS (a pattern), SECONDS of a run and PAIRS for a look, which
// writes nothing, and BASE, the binary of another commit.
type session struct {
	binaries map[string]string
	seconds  int
	found    measured
}

// limit bounds the whole benchmark: what is not measured by then is left out.
const limit = 14 * time.Minute

func BenchmarkMeasured(b *testing.B) {
	only := testenv.Must(regexp.Compile(os.Getenv("ROWS")))(b)
	seconds, _ := strconv.Atoi(os.Getenv("SECONDS"))
	most, _ := strconv.Atoi(os.Getenv("PAIRS"))
	s := session{binaries: map[string]string{ours: testenv.Locbench(b), base: os.Getenv("BASE")}, seconds: seconds}
	if seconds == 0 {
		s.seconds = 3
	}
	chosen := slices.DeleteFunc(rows(), func(r row) bool { return !only.MatchString(r.name) })
	s.look(b, chosen)
	urls := map[string]string{"": serve(b)}
	if path, err := exec.LookPath("nginx"); err == nil {
		urls["nginx"] = nginx(b, path)
	}
	end := time.Now().Add(limit)
	for _, r := range chosen {
		fmt.Fprintln(os.Stderr, r.name)
		x := result{Row: r.name}
		if r.on == "nginx" && urls["nginx"] == "" {
			x.LeftOut = "nginx is not installed"
		}
		for n := 0; x.LeftOut == "" && n < r.pairs && (most == 0 || n < most); n++ {
			if time.Now().After(end) {
				x.LeftOut = map[bool]string{true: "no time was left"}[n == 0]
				break
			}
			x.Pairs = append(x.Pairs, s.pair(b, r, n, urls[r.on]))
		}
		s.found.Rows = append(s.found.Rows, x)
	}
	table := s.found.table(chosen)
	fmt.Print("\n", table)
	if os.Getenv("ROWS") == "" && seconds == 0 && most == 0 {
		text := testenv.Must(json.MarshalIndent(s.found, "", " "))(b)
		testenv.OK(b, os.WriteFile(root+data, append(text, '\n'), 0o644))
		testenv.OK(b, loadtools.Write(root+page, table))
	}
}

// look finds out who is there, and on which machine.
func (s *session) look(b *testing.B, chosen []row) {
	s.found = measured{Date: time.Now().UTC().Format(time.DateOnly), Seconds: s.seconds, Clients: map[string]string{}}
	for name, path := range s.binaries {
		if s.found.Clients[name] = ""; path != "" {
			s.found.Clients[name] = strings.TrimPrefix(output(b, path, "--version"), "locbench ")
		}
	}
	for _, r := range chosen {
		for _, name := range r.clients(0) {
			if t, ok := loadtools.Named(name); ok {
				s.found.Clients[name] = t.Find(b.Context())
			}
		}
	}
	s.found.Commit = output(b, "git", "describe", "--always", "--exclude=*", "--dirty")
	model := regexp.MustCompile(`(?m)^model name\s*: *(.*)$`).FindStringSubmatch(output(b, "cat", "/proc/cpuinfo"))
	s.found.Machine = fmt.Sprintf("%s, %d CPUs, Linux %s", append(model, "", "")[1], runtime.NumCPU(), output(b, "uname", "-r"))
}

func output(b *testing.B, command ...string) string {
	out, err := exec.CommandContext(b.Context(), command[0], command[1:]...).Output()
	testenv.Need(b, err == nil, "%s: %v", command, err)
	return strings.TrimSpace(string(out))
}

// pair is a run of each client of a row, of those that do not fail. Each pair begins with another one.
func (s *session) pair(b *testing.B, r row, n int, url string) map[string]values {
	clients := slices.DeleteFunc(r.clients(n), func(name string) bool { return name != twin && s.found.Clients[name] == "" })
	pair := map[string]values{}
	for i := range clients {
		name, of, binary := clients[(i+n)%len(clients)], r, s.binaries[ours]
		switch name {
		case base:
			binary = s.binaries[base]
		case twin:
			of.profile = ""
		}
		found, err := values(nil), error(nil)
		if t, ok := loadtools.Named(name); ok {
			found, err = tool(b, t, loadtools.Load{URL: url + r.path, Connections: r.connections, Rate: r.rate, Seconds: s.seconds})
		} else {
			found, err = locbench(b, binary, of, url, s.seconds)
		}
		if pair[name] = found; err != nil {
			fmt.Fprintln(os.Stderr, "left out:", err)
		}
	}
	return pair
}
