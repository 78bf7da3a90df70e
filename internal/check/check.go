// Package check asks a contender questions and compares what it answers and does with what it
// should: HTTP checks, which are data (suites in YAML), and the lifecycle checks of a constrained
// microservice.
//
// A failed check is a result, never an error: errors are for suites that cannot be read and for a
// context that ended. The package starts no contender by itself (it is handed a Launcher), decides
// nothing about the run, and leaves the printing to its callers.
package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"locbench/internal/bench"
	"locbench/internal/safe"
)

const (
	// DefaultTimeout is the time that one HTTP check may take.
	DefaultTimeout = 5 * time.Second
	// maxBody bounds what is read of one answer, in bytes. A longer answer fails its check.
	maxBody = 4 << 20
	// maxDetail bounds CheckResult.Detail, in bytes.
	maxDetail = 1000
	// maxSilent is the number of checks in a row that may get no answer at all before the others
	// are skipped.
	maxSilent = 3
)

// Options say what HTTP asks whom.
type Options struct {
	BaseURL   string                  // of the service, without a slash at the end
	Suite     *Suite                  //
	Endpoints []string                // groups that the service has; the others are skipped. nil: all
	Client    *http.Client            // nil: one of its own, without proxy. Redirects are never followed
	Timeout   time.Duration           // of one check whose suite says nothing else; 0: DefaultTimeout
	OnResult  func(bench.CheckResult) // reported after each check; may be nil
}

// HTTP runs the checks of the suite one after the other, in the order of the file. The error tells
// that the checks could not be run at all or that ctx has ended; the results until then are
// returned with it.
func HTTP(ctx context.Context, opt Options) ([]bench.CheckResult, error) {
	if opt.Suite == nil {
		return nil, errors.New("check: no suite")
	}
	base, err := url.Parse(opt.BaseURL)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, fmt.Errorf("check %q: not an http(s) URL", opt.BaseURL)
	}
	client, done := ownClient(opt.Client)
	defer done()
	r := httpRun{client: client, base: strings.TrimRight(opt.BaseURL, "/"), suite: opt.Suite.Name, timeout: opt.Timeout}
	if r.timeout <= 0 {
		r.timeout = DefaultTimeout
	}
	var results []bench.CheckResult
	for _, g := range opt.Suite.Groups {
		served := opt.Endpoints == nil || slices.Contains(opt.Endpoints, g.Name)
		for _, c := range g.Checks {
			if ctx.Err() != nil {
				return results, fmt.Errorf("checks of suite %s: %w", opt.Suite.Name, context.Cause(ctx))
			}
			var res bench.CheckResult
			switch {
			case !served:
				res = r.skip(g.Name, c, "the service does not have this group of endpoints")
			case r.silent >= maxSilent:
				res = r.skip(g.Name, c, fmt.Sprintf("not asked: %d checks before it got no answer", r.silent))
			default:
				res = r.one(ctx, g.Name, c)
				if ctx.Err() != nil {
					return results, fmt.Errorf("checks of suite %s: %w", opt.Suite.Name, context.Cause(ctx))
				}
			}
			results = append(results, res)
			if opt.OnResult != nil {
				opt.OnResult(res)
			}
		}
	}
	return results, nil
}

// ownClient copies c so that redirects stay answers; done releases the connections of a client made
// here.
func ownClient(c *http.Client) (own *http.Client, done func()) {
	done = func() {}
	if c == nil {
		t := &http.Transport{DisableCompression: true}
		c, done = &http.Client{Transport: t}, t.CloseIdleConnections
	}
	copied := *c
	copied.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &copied, done
}

type httpRun struct {
	client  *http.Client
	base    string
	suite   string
	timeout time.Duration
	silent  int // checks in a row without any answer
}

func (r *httpRun) result(group string, c Check) bench.CheckResult {
	return bench.CheckResult{Group: group, Name: c.Name, Suite: r.suite, Request: safe.Line(c.Request.String(), 300)}
}

func (r *httpRun) skip(group string, c Check, why string) bench.CheckResult {
	res := r.result(group, c)
	res.Status, res.Detail = bench.CheckSkipped, why
	return res
}

func (r *httpRun) one(ctx context.Context, group string, c Check) bench.CheckResult {
	res := r.result(group, c)
	start := time.Now()
	a, err := r.ask(ctx, c)
	res.Took = time.Since(start)
	if err != nil {
		r.silent++
		res.Status, res.Detail = bench.CheckFailed, safe.Line(err.Error(), maxDetail)
		return res
	}
	r.silent = 0
	res.Value = strconv.Itoa(a.status)
	if wrong := c.Expect.judge(a); len(wrong) > 0 {
		res.Status, res.Detail = bench.CheckFailed, safe.Line(strings.Join(wrong, "; "), maxDetail)
		return res
	}
	res.Status = bench.CheckPassed
	return res
}

// ask sends the request and reads the whole answer. The time-out bounds both.
func (r *httpRun) ask(ctx context.Context, c Check) (*answer, error) {
	timeout := r.timeout
	if c.Timeout > 0 {
		timeout = c.Timeout
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("no answer within %s", timeout))
	defer cancel()
	req, err := c.Request.build(ctx, r.base)
	if err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	start := time.Now()
	resp, err := r.client.Do(req)
	if err != nil {
		return nil, reason(ctx, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	if err != nil {
		return nil, fmt.Errorf("answer %d broke off after %d bytes: %w", resp.StatusCode, len(body), reason(ctx, err))
	}
	return &answer{status: resp.StatusCode, header: resp.Header, body: body, took: time.Since(start)}, nil
}

// reason is the cause of the context's end where that is what err comes from, and otherwise err
// without the URL, which the result names already.
func reason(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
