package seed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/olivere/elastic/v7"

	"github.com/locbench/locbench/internal/text/contact"
	"github.com/locbench/locbench/internal/text/safe"
	"github.com/locbench/locbench/internal/text/secret"
)

// client makes the calls listed in the package comment.
type client struct {
	es   *elastic.Client
	http *http.Client
	url  *url.URL // without user and password
}

func connect(rawURL string, workers int, dial dialer) (*client, error) {
	u, err := secret.ParseURL(rawURL)
	if err != nil {
		return nil, errors.New("malformed Elasticsearch URL") // err would repeat a password in it
	}
	if !secret.IsHTTP(u) {
		return nil, fmt.Errorf("URL %q of Elasticsearch: expected one such as http://127.0.0.1:9200",
			secret.Address(rawURL))
	}
	user := u.User
	u.User = nil
	own := newHTTP(workers, dial)
	options := []elastic.ClientOptionFunc{
		elastic.SetURL(strings.TrimRight(u.String(), "/")),
		elastic.SetSniff(false), // nodes may name addresses that only the cluster can reach
		elastic.SetHealthcheck(false),
		elastic.SetHttpClient(doer{own}),
		elastic.SetRetrier(revive{}),
	}
	if user != nil {
		password, _ := user.Password()
		options = append(options, elastic.SetBasicAuth(user.Username(), password))
	}
	es, err := elastic.NewSimpleClient(options...)
	if err != nil {
		return nil, err
	}
	return &client{es, own, u}, nil
}

// revive does not repeat calls; retry does that. The library marks its only node as dead after an
// error, and without revive its next call would fail only to mark the node as alive again.
type revive struct{}

func (revive) Retry(
	_ context.Context, n int, _ *http.Request, _ *http.Response, err error,
) (time.Duration, bool, error) {
	return 0, elastic.IsConnErr(err) && n <= 2, nil
}

// get requests path, which must be escaped, and decodes the response into out. It returns the body, too.
func (c *client) get(ctx context.Context, path string, out any) ([]byte, error) {
	resp, err := c.es.PerformRequest(ctx, elastic.PerformRequestOptions{Method: http.MethodGet, Path: path})
	if err != nil {
		return nil, explain(err)
	}
	if err := json.Unmarshal(resp.Body, out); err != nil {
		return resp.Body, fmt.Errorf("GET %s: response %.100q: %w", path, resp.Body, err)
	}
	return resp.Body, nil
}

// Identify returns the version of the server at a URL, with the distribution if it names one, and the response that
// says so, which names node and cluster, too. No version is refused: what a server lacks, it says when it is seeded.
func Identify(ctx context.Context, rawURL string) (version, identity string, err error) {
	c, err := connect(rawURL, 1, nil)
	if err != nil {
		return "", "", err
	}
	defer c.http.CloseIdleConnections()
	return c.identify(ctx)
}

func (c *client) identify(ctx context.Context) (version, identity string, err error) {
	var said struct {
		Version struct{ Number, Distribution string }
		Nodes   map[string]struct{ Version string }
	}
	body, err := c.get(ctx, "/", &said)
	if statusOf(err) == http.StatusMethodNotAllowed { // an Elasticsearch 8.19 without the module that has this page
		body, err = c.get(ctx, "/_nodes/_local?filter_path=cluster_name,nodes.*.version", &said)
	}
	version = said.Version.Number
	for _, n := range said.Nodes {
		version = n.Version
	}
	switch {
	case ctx.Err() != nil:
		return "", "", context.Cause(ctx)
	case isJSONError(err), err == nil && version == "":
		return "", "", fmt.Errorf("not Elasticsearch or OpenSearch: GET / returned no version but %q",
			safe.Line(string(body), 200))
	case statusOf(err) != 0 && remedies[statusOf(err)] == "":
		return "", "", fmt.Errorf("not Elasticsearch or OpenSearch, or not ready: %w", err)
	case statusOf(err) == 0 && err != nil && passes(err):
		return "", "", c.unreached(err)
	case err != nil: // silence, a redirect, a long response, 401
		return "", "", err
	}
	return safe.Line(strings.TrimSpace(said.Version.Distribution+" "+version), 100), string(body), nil
}

// unreached says what to do about a request without a response.
func (c *client) unreached(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	hopeless := contact.Hopeless(c.url, err, "add its CA, such as config/certs/http_ca.crt of Elasticsearch, "+
		"to those of this machine; on Linux for one command: SSL_CERT_FILE=http_ca.crt locbench …", "")
	switch {
	case hopeless != nil:
		return hopeless
	case c.url.Scheme == "http" && errors.Is(err, io.EOF):
		return fmt.Errorf("connection closed without a response (%w): if the server has TLS, "+
			"as Elasticsearch from 8 on by default, write https://user:password@host:9200", err)
	}
	return fmt.Errorf("no response; is Elasticsearch running there? %w", err)
}

func isJSONError(err error) bool {
	_, syntax := errors.AsType[*json.SyntaxError](err)
	_, kind := errors.AsType[*json.UnmarshalTypeError](err)
	return syntax || kind
}

// indices returns all indices, each with the aliases that point to it.
func (c *client) indices(ctx context.Context) (map[string][]string, error) {
	response, err := c.es.Aliases().Do(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the aliases: %w", explain(err))
	}
	all := make(map[string][]string, len(response.Indices))
	for index, a := range response.Indices {
		all[index] = []string{}
		for _, alias := range a.Aliases {
			all[index] = append(all[index], alias.AliasName)
		}
	}
	return all, nil
}

// mark reads locbench's mark of an index; the zero mark if there is none.
func (c *client) mark(ctx context.Context, index string) (mark, error) {
	var response map[string]struct {
		Mappings struct {
			Meta struct{ Locbench json.RawMessage } `json:"_meta"`
		}
	}
	if _, err := c.get(ctx, "/"+url.PathEscape(index)+"/_mapping", &response); err != nil {
		return mark{}, fmt.Errorf("mapping of %s: %w", index, err)
	}
	var m mark
	if raw := response[index].Mappings.Meta.Locbench; raw != nil && json.Unmarshal(raw, &m) != nil {
		return mark{}, nil // "locbench" written by another program
	}
	return m, nil
}

func (c *client) remove(ctx context.Context, index string) error {
	_, err := c.es.DeleteIndex(index).Do(ctx)
	if elastic.IsNotFound(err) {
		return nil
	}
	return explain(err)
}

func (c *client) count(ctx context.Context, index string) (count int64, err error) {
	err = retry(ctx, func(bool) error {
		count, err = c.es.Count(index).Do(ctx)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("count %s: %w", index, err)
	}
	return count, nil
}
