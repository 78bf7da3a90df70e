package elasticsearch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/store/seed"
	"github.com/locbench/locbench/internal/text/contact"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/secret"
)

const probeTimeout = 10 * time.Second

// server is a running Elasticsearch.
type server struct {
	url      string // how this machine reaches it, without a slash at the end; may hold user info
	version  string
	identity string // the response to GET /, which names the node and, by its UUID, the cluster
}

// reach returns the server at a URL, once it has responded as an Elasticsearch.
func reach(ctx context.Context, raw string) (s server, err error) {
	if s.url, err = needs.ServiceURL(raw); err == nil && strings.ContainsAny(s.url, "?#") {
		err = fmt.Errorf("%s: remove the query or fragment from the URL", secret.Address(raw))
	}
	if err != nil {
		return s, fmt.Errorf("open external store: %w", err)
	}
	if err := s.greet(ctx); err != nil {
		return s, fmt.Errorf("open external store %s: %w", secret.WithoutUser(s.url), err)
	}
	return s, nil
}

// Probe returns the version of the Elasticsearch or OpenSearch at a URL.
func Probe(ctx context.Context, url string) (version string, err error) {
	s, err := reach(ctx, url)
	return s.version, err
}

// greet reads the version.
func (s *server) greet(ctx context.Context) (err error) {
	s.version, s.identity, err = seed.Identify(ctx, s.url)
	return err
}

// alive returns nil if the server responds.
func (s *server) alive(ctx context.Context) error {
	if _, _, err := seed.Identify(ctx, s.url); err != nil {
		return fmt.Errorf("reach %s: %w", secret.WithoutUser(s.url), err)
	}
	return nil
}

// listensAt returns the URL of the server at another host, if it listens there too; "" if it does
// not, or if that is another server.
func (s *server) listensAt(ctx context.Context, host string) string {
	base := onHost(s.url, host)
	if _, identity, err := seed.Identify(ctx, base); err != nil || identity != s.identity {
		return ""
	}
	return base
}

// count returns the number of documents in an index, 0 if there is none of that name. It includes the latest changes if the user of
// the URL may refresh the index.
func (s *server) count(ctx context.Context, index string) (int64, error) {
	at := s.url + "/" + url.PathEscape(index)
	_, _, _ = call(ctx, http.MethodPost, at+"/_refresh", "") // a user who may only read can still count
	status, body, err := call(ctx, http.MethodGet, at+"/_count", "")
	var response struct {
		Count int64 `json:"count"`
	}
	switch {
	case err != nil:
	case status == http.StatusNotFound:
		return 0, nil
	case status != http.StatusOK:
		err = fmt.Errorf("the store returned %d %s", status, safe.Line(string(body), 200))
	default:
		err = json.Unmarshal(body, &response)
	}
	if err != nil {
		return 0, fmt.Errorf("count documents of %s at %s: %w", index, secret.WithoutUser(s.url), err)
	}
	return response.Count, nil
}

// seal makes the server refuse changes, or accept them again. Contenders only read; one that writes
// would change the data of the others. It is a setting, which a contender could undo if it knew of
// it.
func (s *server) seal(ctx context.Context, on bool) error {
	// Not index.blocks.write: that still allows to delete the index and to move its alias.
	body := fmt.Sprintf(`{"persistent":{"cluster.blocks.read_only":%v}}`, on)
	status, response, err := call(ctx, http.MethodPut, s.url+"/_cluster/settings", body)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("it returned %d %s", status, safe.Line(string(response), 200))
	}
	if err != nil {
		return fmt.Errorf("set cluster.blocks.read_only of the store to %v: %w", on, err)
	}
	return nil
}

// call sends one request, with json as its body unless that is "", and reads the whole response
// within probeTimeout. The error does not contain the URL, which may hold a password.
func call(ctx context.Context, method, to, json string) (status int, body []byte, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, probeTimeout, fmt.Errorf("no response within %v", probeTimeout))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, to, strings.NewReader(json))
	if err != nil {
		return 0, nil, errors.New("malformed URL")
	}
	if json != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	transport := &http.Transport{DisableKeepAlives: true} // without a proxy, as contenders reach it
	resp, err := (&http.Client{Transport: transport, CheckRedirect: contact.StayHere}).Do(req)
	if err == nil {
		defer resp.Body.Close()
		if err := contact.Redirected(resp); err != nil {
			return 0, nil, err
		}
		status = resp.StatusCode
		body, err = io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	}
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	} else if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	return status, body, err
}

// hostPort returns the host and port of a URL that reach has accepted.
func hostPort(raw string) string {
	u, _ := secret.ParseURL(raw)
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	return net.JoinHostPort(u.Hostname(), port)
}

// withHost returns a URL that reach has accepted, with another host and port.
func withHost(raw, host string) string {
	u, _ := secret.ParseURL(raw)
	u.Host = host
	return u.String()
}

// onHost returns a URL with another host and the same port.
func onHost(raw, host string) string {
	_, port, _ := net.SplitHostPort(hostPort(raw))
	return withHost(raw, net.JoinHostPort(host, port))
}
