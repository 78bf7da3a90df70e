package container

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/bench/units"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/needs/compose"
	"github.com/locbench/locbench/internal/text/contact"
	"github.com/locbench/locbench/internal/text/safe"
)

const (
	readyTimes   = 2
	checkTimeout = 10 * time.Second
	lastRows     = 10
	rowBytes     = 300
)

// pace says how a service is checked until it is ready.
type pace struct {
	again time.Duration // after a check that failed, at least
	apart time.Duration // after one that succeeded
	// open is how long a connection must stay open: some servers, and what forwards to one that is
	// not there, accept connections and close them.
	open time.Duration
	up   time.Duration // how long a service without a port must run
}

var usual = pace{again: 200 * time.Millisecond, apart: 500 * time.Millisecond, open: 100 * time.Millisecond, up: time.Second}

// begun is a start of a service in a container.
type begun struct {
	*service
	c     needs.Container
	heard *heard
	first bool // with empty volumes
	pace  pace
}

// check is one way to see whether a service is ready.
type check struct {
	what string // for errors
	do   func(ctx context.Context) error
}

// errNoCommand is the error of a command that the image does not have. To wait does not help.
var errNoCommand = errors.New("its image does not have this command")

// missingFile matches what an engine says of a command that the image does not have. It exits with
// the same code if the container ends meanwhile.
var missingFile = regexp.MustCompile(`(?i)not found|no such file|permission denied`)

// await waits until the service is ready: until its check has succeeded several times in a row,
// apart, for the same process. It is never started again if it ends.
func (n *begun) await(ctx context.Context) error {
	limit := cmp.Or(n.spec.Ready.Timeout, compose.ReadyTimeout)
	began, reported := time.Now(), time.Duration(0)
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	check, err := n.check()
	if err != nil {
		return err
	}
	times := cmp.Or(n.spec.Ready.Times, readyTimes)
	var last error // without the one that the end of the wait causes
	for passed := 0; ; {
		at := time.Now()
		attempt, end := context.WithTimeout(timed, checkTimeout)
		err := check.do(attempt)
		end()
		wait := n.pace.apart
		passed++
		if err != nil {
			passed, wait = 0, max(n.pace.again, min(time.Since(at), 5*time.Second)) // a check takes CPU time from the start
		}
		if last == nil || time.Since(began) < limit {
			last = err
		}
		switch {
		case exitOf(n.c) != nil:
			return n.failed()
		case errors.Is(err, errNoCommand):
			return fmt.Errorf("%s: %w; write another `ready`, such as `{tcp: %d}`", check.what, err, cmp.Or(n.main(), 5432))
		case passed >= times:
			return nil
		}
		if waited := time.Since(began).Truncate(time.Second); waited > reported {
			reported = waited
			n.at.Progress(bench.Progress{Text: fmt.Sprintf("%s: waited %.0f of %.0f s", n.name, waited.Seconds(), limit.Seconds())})
		}
		select {
		case <-n.c.Exited():
			return n.failed()
		case <-timed.Done():
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			last = cmp.Or(last, errors.New("it did not succeed often enough"))
			return fmt.Errorf("not ready after %s: %s: %w%s", units.Exact(limit), check.what, last, lastLines(n.c))
		case <-time.After(wait):
		}
	}
}

// check returns how to see whether a container is ready. Commands may use a socket on which the
// service listens earlier than on its port, so both must be ready.
func (n *begun) check() (check, error) {
	r, main := n.spec.Ready, n.main()
	if len(r.Rules()) == 0 && n.image.Healthcheck != nil {
		r.Healthcheck = true
	}
	if r.Healthcheck {
		if r.Command = n.image.Healthcheck; r.Command == nil {
			return check{}, fmt.Errorf("image %s has no health check; write another `ready`", n.spec.Image)
		}
	}
	switch {
	case r.Command != nil:
		return n.andPort(check{safe.Line(compose.Masked(r.Command), rowBytes), func(ctx context.Context) error { return succeeds(ctx, n.c, r.Command) }}), nil
	case r.HTTP != (compose.ReadyHTTP{}):
		at, err := n.reached(n.c, cmp.Or(r.HTTP.Port, main))
		url, absent := "http://"+at+r.HTTP.Path, ""
		if n.preset.Absent != "" && r.HTTP == n.preset.Fills.Ready.HTTP {
			absent = "http://" + at + n.preset.Absent
		}
		status := cmp.Or(r.HTTP.Status, http.StatusOK)
		return check{"GET " + url, func(ctx context.Context) error { return responds(ctx, url, absent, status) }}, err
	case r.Log != (compose.ReadyLog{}) && n.first:
		times := cmp.Or(r.Log.Times, 1)
		return n.andPort(check{fmt.Sprintf("%q in its log", r.Log.Line), func(context.Context) error {
			if found := n.heard.count(); found < times {
				return fmt.Errorf("found %d of %s", found, units.Plural(int64(times), "time"))
			}
			return nil
		}}), nil
	case r.TCP != 0:
		return n.port(r.TCP)
	case main != 0:
		return n.port(main)
	}
	n.warn(" has no port and no `ready`: it counts as ready after running for 1 s")
	started := time.Now()
	return check{"it runs for 1 s", func(context.Context) error {
		if time.Since(started) < n.pace.up {
			return errors.New("started only now")
		}
		return nil
	}}, nil
}

// port returns a check of a port.
func (n *begun) port(number int) (check, error) {
	at, err := n.reached(n.c, number)
	return check{"port " + strconv.Itoa(number), func(ctx context.Context) error { return accepts(ctx, at, n.pace.open) }}, err
}

// andPort adds the main port to a check, if there is one.
func (n *begun) andPort(of check) check {
	if n.main() == 0 {
		return of
	}
	return check{of.what, func(ctx context.Context) error {
		if err := of.do(ctx); err != nil {
			return err
		}
		return accepts(ctx, n.c.Address(), n.pace.open)
	}}
}

// accepts returns an error unless an address accepts a connection that stays open for a time.
func accepts(ctx context.Context, address string, open time.Duration) error {
	conn, err := (&net.Dialer{Timeout: 2 * time.Second}).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	if open == 0 {
		return nil
	}
	if err := conn.SetReadDeadline(time.Now().Add(open)); err != nil {
		return err
	}
	var closed net.Error
	if _, err := conn.Read(make([]byte, 1)); err != nil && !(errors.As(err, &closed) && closed.Timeout()) {
		return errors.New("it closes connections at once")
	}
	return nil
}

// responds returns an error unless a URL responds with a status. absent is the URL that has to if this
// is not found (404); "": none.
func responds(ctx context.Context, url, absent string, status int) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return errors.New("malformed path")
	}
	transport := &http.Transport{DisableKeepAlives: true} // without a proxy: the address is of the run's network
	resp, err := (&http.Client{Transport: transport, CheckRedirect: contact.StayHere}).Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusNotFound && absent != "":
		return responds(ctx, absent, "", status)
	case resp.StatusCode != status:
		return fmt.Errorf("status %d, expected %d", resp.StatusCode, status)
	}
	return nil
}

// succeeds returns an error unless a command in a container succeeds.
func succeeds(ctx context.Context, c needs.Container, command []string) error {
	output, code, err := c.Exec(ctx, command, nil)
	lines := strings.Split(strings.TrimSpace(output), "\n")
	switch {
	case err != nil || code == 0:
		return err
	case code == 127 || code == 126 && missingFile.MatchString(output):
		return fmt.Errorf("%w (exit code %d)%s", errNoCommand, code, lastOf(lines, 1))
	}
	return fmt.Errorf("exit code %d%s", code, lastOf(lines, lastRows))
}

// failed is the error of a container that ended before it was ready. If its image runs files, one of
// them has probably failed: the log names it.
func (n *begun) failed() error {
	what := "ended before it was ready"
	for _, one := range n.spec.Seed {
		if !n.first || one.File == "" {
			continue
		}
		base := path.Base(one.File)
		switch named := logged(n.c, base); {
		case named:
			what = "seed failed in " + base + lineOf(n.c.Logs(), base)
		case what == "ended before it was ready":
			what = "seed failed"
		}
	}
	return fmt.Errorf("%s: %s%s", what, n.death(exitOf(n.c)), lastLines(n.c))
}

var atLine = regexp.MustCompile(`(?i)\bat line (\d+)`)

// lineOf returns the line of a file at which a log says that it failed: "FILE:3: ERROR" of
// PostgreSQL, "ERROR … at line 3" of MySQL.
func lineOf(logs []bench.LogLine, file string) string {
	inFile := regexp.MustCompile(regexp.QuoteMeta(file) + `:(\d+)\b`)
	for _, l := range slices.Backward(logs) {
		for _, is := range []*regexp.Regexp{inFile, atLine} {
			if m := is.FindStringSubmatch(l.Text); m != nil {
				return ", line " + m[1]
			}
		}
	}
	return ""
}

// logged reports whether one of the last lines of a container has a text.
func logged(c needs.Container, text string) bool {
	return slices.ContainsFunc(c.Logs(), func(l bench.LogLine) bool { return strings.Contains(l.Text, text) })
}

// lastLines returns the last lines of a container's log, without passwords, each after a line end.
func lastLines(c needs.Container) string {
	var lines []string
	for _, l := range c.Logs() {
		lines = append(lines, l.Text)
	}
	if len(lines) == 0 {
		return "; its log is empty"
	}
	return why(lines) + "; its last lines:" + lastOf(lines, lastRows)
}

// lastOf returns the last lines, each after a line end.
func lastOf(lines []string, most int) (text string) {
	for _, l := range lines[max(0, len(lines)-most):] {
		if l != "" {
			text += "\n  " + safe.Line(l, rowBytes)
		}
	}
	return text
}
