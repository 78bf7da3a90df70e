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
	"github.com/locbench/locbench/internal/text/safe"
)

const (
	readyTimeout = time.Minute
	readyTimes   = 2
	checkTimeout = 10 * time.Second
	// staysUp is how long a service without a port must run.
	staysUp  = time.Second
	lastRows = 10
	rowBytes = 300
)

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
func (n *Need) await(ctx context.Context, c needs.Container, heard *heard, first bool) error {
	limit := cmp.Or(n.spec.Ready.Timeout, readyTimeout)
	began, reported := time.Now(), time.Duration(0)
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	check, err := n.check(c, heard, first)
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
		case exitOf(c) != nil:
			return n.failedStart(c, exitOf(c), first)
		case errors.Is(err, errNoCommand):
			return fmt.Errorf("%s: %w; write another `ready`, such as `{tcp: %d}`", check.what, err, cmp.Or(n.ports[mainPort], 5432))
		case passed >= times:
			return nil
		}
		if waited := time.Since(began).Truncate(time.Second); waited > reported {
			reported = waited
			n.at.Progress(bench.Progress{Text: fmt.Sprintf("%s: waited %.0f of %.0f s", n.name, waited.Seconds(), limit.Seconds())})
		}
		select {
		case <-c.Exited():
			return n.failedStart(c, exitOf(c), first)
		case <-timed.Done():
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			last = cmp.Or(last, errors.New("it did not succeed often enough"))
			return fmt.Errorf("not ready after %s: %s: %w%s", units.Exact(limit), check.what, last, n.lastLines(c))
		case <-time.After(wait):
		}
	}
}

// check returns how to see whether a container is ready. Commands may use a socket on which the
// service listens earlier than on its port, so both must be ready.
func (n *Need) check(c needs.Container, heard *heard, first bool) (check, error) {
	r, main := n.spec.Ready, n.ports[mainPort]
	if len(r.rules()) == 0 && n.image.Healthcheck != nil {
		r.Healthcheck = true
	}
	if r.Healthcheck {
		if r.Command = n.image.Healthcheck; r.Command == nil {
			return check{}, fmt.Errorf("image %s has no health check; write another `ready`", n.spec.Image)
		}
	}
	switch {
	case r.Command != nil:
		return n.andPort(c, check{safe.Line(masked(r.Command), rowBytes), func(ctx context.Context) error { return succeeds(ctx, c, r.Command) }}), nil
	case r.HTTP != (readyHTTP{}):
		at, err := n.reached(c, cmp.Or(r.HTTP.Port, main))
		url := "http://" + at + r.HTTP.Path
		status := cmp.Or(r.HTTP.Status, http.StatusOK)
		return check{"GET " + url, func(ctx context.Context) error { return responds(ctx, url, status) }}, err
	case r.Log != (readyLog{}) && first:
		times := cmp.Or(r.Log.Times, 1)
		return n.andPort(c, check{fmt.Sprintf("%q in its log", r.Log.Line), func(context.Context) error {
			if found := heard.count(); found < times {
				return fmt.Errorf("found %d of %s", found, units.Plural(int64(times), "time"))
			}
			return nil
		}}), nil
	case r.TCP != 0:
		return n.port(c, r.TCP)
	case main != 0:
		return n.port(c, main)
	}
	n.at.Warn(bench.Warning{Text: n.name + " has no port and no `ready`: it counts as ready after running for 1 s"})
	started := time.Now()
	return check{"it runs for 1 s", func(context.Context) error {
		if time.Since(started) < staysUp {
			return errors.New("started only now")
		}
		return nil
	}}, nil
}

// port returns a check of a port.
func (n *Need) port(c needs.Container, number int) (check, error) {
	at, err := n.reached(c, number)
	return check{"port " + strconv.Itoa(number), func(ctx context.Context) error { return accepts(ctx, at, n.pace.open) }}, err
}

// andPort adds the main port to a check, if there is one.
func (n *Need) andPort(c needs.Container, of check) check {
	if n.ports[mainPort] == 0 {
		return of
	}
	return check{of.what, func(ctx context.Context) error {
		if err := of.do(ctx); err != nil {
			return err
		}
		return accepts(ctx, c.Address(), n.pace.open)
	}}
}

// reached returns where this machine reaches a port of a container.
func (n *Need) reached(c needs.Container, port int) (string, error) {
	switch host, _, err := net.SplitHostPort(c.Address()); {
	case port == 0:
		return "", errors.New("its port is not known; write `ports`")
	case port == n.ports[mainPort]:
		return c.Address(), nil
	case err != nil || !n.direct(c):
		return "", fmt.Errorf("this machine does not reach port %d of the container; write `ready: {command: […]}`", port)
	default:
		return net.JoinHostPort(host, strconv.Itoa(port)), nil
	}
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

// responds returns an error unless a URL responds with a status.
func responds(ctx context.Context, url string, status int) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return errors.New("malformed path")
	}
	transport := &http.Transport{DisableKeepAlives: true} // without a proxy: the address is of the run's network
	noRedirect := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := (&http.Client{Transport: transport, CheckRedirect: noRedirect}).Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != status {
		return fmt.Errorf("status %d, expected %d", resp.StatusCode, status)
	}
	return nil
}

// succeeds returns an error unless a command in a container succeeds.
func succeeds(ctx context.Context, c needs.Container, command []string) error {
	output, code, err := c.Exec(ctx, command, nil, nil)
	lines := strings.Split(strings.TrimSpace(output), "\n")
	switch {
	case err != nil || code == 0:
		return err
	case code == 127 || code == 126 && missingFile.MatchString(output):
		return fmt.Errorf("%w (exit code %d)%s", errNoCommand, code, lastOf(lines, 1))
	}
	return fmt.Errorf("exit code %d%s", code, lastOf(lines, lastRows))
}

// failedStart is the error of a container that ended before it was ready. If its image runs files,
// one of them has probably failed: the log names it.
func (n *Need) failedStart(c needs.Container, exit *bench.Exit, first bool) error {
	what := "ended before it was ready"
	for _, one := range n.spec.Seed {
		if !first || one.File == "" {
			continue
		}
		if base := path.Base(one.File); what == "ended before it was ready" || n.logged(c, base) {
			what = "seed failed"
			if n.logged(c, base) {
				what = "seed failed in " + base + lineOf(c.Logs(), base)
			}
		}
	}
	text := exit.String()
	if exit.OOMKilled && n.spec.Limits.Memory > 0 {
		text += ", its limit is " + units.Bytes(int64(n.spec.Limits.Memory))
	}
	return fmt.Errorf("%s: %s%s", what, text, n.lastLines(c))
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
func (n *Need) logged(c needs.Container, text string) bool {
	for _, l := range c.Logs() {
		if strings.Contains(l.Text, text) {
			return true
		}
	}
	return false
}

// lastLines returns the last lines of a container's log, without passwords, each after a line end.
func (n *Need) lastLines(c needs.Container) string {
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
