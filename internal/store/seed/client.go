package seed

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/olivere/elastic/v7"

	"github.com/locbench/locbench/internal/text/secret"
)

// client makes the calls listed in the package comment.
type client struct {
	es   *elastic.Client
	http *http.Client
	name string // the URL without the password
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
	return &client{es, own, u.String()}, nil
}

// revive does not repeat calls; retry does that. The library marks its only node as dead after an
// error, and without revive its next call would fail only to mark the node as alive again.
type revive struct{}

func (revive) Retry(
	_ context.Context, n int, _ *http.Request, _ *http.Response, err error,
) (time.Duration, bool, error) {
	return 0, elastic.IsConnErr(err) && n <= 2, nil
}

// get requests path, which must be escaped, and decodes the response into out.
func (c *client) get(ctx context.Context, path string, out any) error {
	resp, err := c.es.PerformRequest(ctx, elastic.PerformRequestOptions{Method: http.MethodGet, Path: path})
	if err != nil {
		return explain(err)
	}
	if err := json.Unmarshal(resp.Body, out); err != nil {
		return fmt.Errorf("GET %s: response %.100q: %w", path, resp.Body, err)
	}
	return nil
}

// version returns the version of Elasticsearch, which must be 7. The error says what to do.
func (c *client) version(ctx context.Context) (string, error) {
	var root struct {
		Version struct{ Number, Distribution string }
	}
	err := c.get(ctx, "/", &root)
	number := root.Version.Number
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case isJSONError(err), err == nil && number == "":
		return "", errors.New("not Elasticsearch: GET / returned no version")
	case statusOf(err) != 0 && remedies[statusOf(err)] == "":
		return "", fmt.Errorf("not Elasticsearch, or not ready: %w", err)
	case statusOf(err) == 0 && err != nil && passes(err):
		return "", fmt.Errorf("no response; is Elasticsearch running there? %w", err)
	case err != nil: // silence, a redirect, a long response, 401
		return "", err
	case root.Version.Distribution != "" || !strings.HasPrefix(number, "7."):
		name := cmp.Or(root.Version.Distribution, "Elasticsearch")
		return "", fmt.Errorf("found %.40q %.20q: expected Elasticsearch 7", name, number)
	}
	return number, nil
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
	if err := c.get(ctx, "/"+url.PathEscape(index)+"/_mapping", &response); err != nil {
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
