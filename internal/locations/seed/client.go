package seed

import (
	"bytes"
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
	"unicode"

	"github.com/olivere/elastic/v7"

	"locbench/internal/secret"
)

// Bounds of what a server may do to us.
const (
	maxAnswer     = 64 << 20
	askTimeout    = 10 * time.Second // for a question, from its first byte to the last one of its answer
	changeTimeout = 2 * time.Minute  // for what changes something, such as a bulk request, likewise
)

// client makes the calls that the package comment lists.
type client struct {
	*elastic.Client
	transport *http.Transport
	name      string // the URL without a password
}

func connect(rawURL string, workers int, dial func(ctx context.Context, network, address string) (net.Conn, error)) (*client, error) {
	u, err := secret.ParseURL(rawURL)
	if err != nil {
		return nil, errors.New("the URL of Elasticsearch cannot be parsed") // err would repeat a password in it
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, fmt.Errorf("the URL of Elasticsearch is %q; want something like http://127.0.0.1:9200", secret.Address(rawURL))
	}
	if dial == nil {
		dial = (&net.Dialer{Timeout: 10 * time.Second}).DialContext
	}
	transport := &http.Transport{
		Proxy:               secret.Proxy,
		DialContext:         dial,
		TLSHandshakeTimeout: 10 * time.Second,
		MaxIdleConnsPerHost: workers + 1,
		WriteBufferSize:     256 << 10, // bodies are megabytes; 4 kB at a time would be many system calls
		DisableCompression:  true,      // answers are short
	}
	user := u.User
	u.User = nil
	options := []elastic.ClientOptionFunc{
		elastic.SetURL(strings.TrimRight(u.String(), "/")),
		elastic.SetSniff(false), // nodes may tell addresses that only the cluster can reach
		elastic.SetHealthcheck(false),
		elastic.SetHttpClient(doer{&http.Client{Transport: transport}}),
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
	return &client{es, transport, u.String()}, nil
}

// doer bounds answers, in length and in time.
type doer struct{ *http.Client }

// Do sends req and reads the answer, both within the time.
func (d doer) Do(req *http.Request) (*http.Response, error) {
	within := silence(changeTimeout)
	if req.Method == http.MethodGet || strings.HasSuffix(req.URL.Path, "/_count") {
		within = silence(askTimeout)
	}
	ctx, cancel := context.WithTimeoutCause(req.Context(), time.Duration(within), within)
	defer cancel()
	resp, err := d.Client.Do(req.WithContext(ctx))
	var body []byte
	if err == nil {
		body, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
		resp.Body.Close()
	}
	if err != nil {
		if s, ok := context.Cause(ctx).(silence); ok { // of this call, or of the clean-up that it belongs to
			err = s
		}
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// silence is the error of a request that was not answered within that time.
type silence time.Duration

func (s silence) Error() string { return fmt.Sprintf("no answer within %v", time.Duration(s)) }

func isSilence(err error) bool {
	_, ok := errors.AsType[silence](err)
	return ok
}

// revive is not about trying again (package seed does that itself): the library marks its only node
// as dead after an error, and its next call would fail merely to mark it as alive again.
type revive struct{}

func (revive) Retry(_ context.Context, n int, _ *http.Request, _ *http.Response, err error) (time.Duration, bool, error) {
	return 0, elastic.IsConnErr(err) && n <= 2, nil
}

// get asks for path, which must be escaped, and decodes the answer into out.
func (c *client) get(ctx context.Context, path string, out any) error {
	resp, err := c.PerformRequest(ctx, elastic.PerformRequestOptions{Method: http.MethodGet, Path: path})
	if err != nil {
		return explain(err)
	}
	if err := json.Unmarshal(resp.Body, out); err != nil {
		return fmt.Errorf("GET %s: answer %.100q: %w", path, resp.Body, err)
	}
	return nil
}

// explain turns the library's errors into words.
func explain(err error) error {
	e, ok := errors.AsType[*elastic.Error](err)
	if !ok {
		return err
	}
	text := strings.TrimSpace(fmt.Sprint("Elasticsearch answered ", e.Status, " ", http.StatusText(e.Status)))
	if e.Details != nil {
		text += ": " + clip(reasons(e.Details))
	}
	return &statusError{e.Status, text}
}

// statusError is an answer other than 2xx.
type statusError struct {
	status int
	text   string
}

func (e *statusError) Error() string { return e.text }

func statusOf(err error) int {
	if e, ok := errors.AsType[*statusError](err); ok {
		return e.status
	}
	return 0
}

// clip bounds words from outside and makes them one line.
func clip(s string) string {
	const most = 500
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// version is the number of a reachable Elasticsearch 7; else the error says what to do.
func (c *client) version(ctx context.Context) (string, error) {
	var root struct {
		Version struct{ Number, Distribution string }
	}
	err := c.get(ctx, "/", &root)
	number := root.Version.Number
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case statusOf(err) == http.StatusUnauthorized || statusOf(err) == http.StatusForbidden:
		return "", fmt.Errorf("%w; put user and password into the URL: http://user:password@host:9200", err)
	case statusOf(err) != 0:
		return "", fmt.Errorf("this is no Elasticsearch, or it is not ready: %w", err)
	case isSilence(err):
		return "", fmt.Errorf("%w; is it Elasticsearch that takes connections there?", err)
	case err != nil && !isJSONError(err):
		return "", fmt.Errorf("no answer; is Elasticsearch running there? %w", err)
	case err != nil || number == "":
		return "", errors.New("this is no Elasticsearch: GET / does not tell a version")
	case root.Version.Distribution != "":
		return "", fmt.Errorf("this is %.40q %.20q; want Elasticsearch 7", root.Version.Distribution, number)
	case !strings.HasPrefix(number, "7."):
		return "", fmt.Errorf("this is Elasticsearch %.20q; want version 7", number)
	}
	return number, nil
}

func isJSONError(err error) bool {
	_, syntax := errors.AsType[*json.SyntaxError](err)
	_, kind := errors.AsType[*json.UnmarshalTypeError](err)
	return syntax || kind
}

// indices tells all indices and the aliases that point to each.
func (c *client) indices(ctx context.Context) (map[string][]string, error) {
	answer, err := c.Aliases().Do(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the aliases: %w", explain(err))
	}
	all := make(map[string][]string, len(answer.Indices))
	for index, a := range answer.Indices {
		all[index] = []string{}
		for _, alias := range a.Aliases {
			all[index] = append(all[index], alias.AliasName)
		}
	}
	return all, nil
}

// mark reads locbench's mark; the zero mark where the index has none.
func (c *client) mark(ctx context.Context, index string) (mark, error) {
	var answer map[string]struct {
		Mappings struct {
			Meta struct{ Locbench json.RawMessage } `json:"_meta"`
		}
	}
	if err := c.get(ctx, "/"+url.PathEscape(index)+"/_mapping", &answer); err != nil {
		return mark{}, fmt.Errorf("mapping of %s: %w", index, err)
	}
	var m mark
	if raw := answer[index].Mappings.Meta.Locbench; raw != nil && json.Unmarshal(raw, &m) != nil {
		return mark{}, nil // somebody else's idea of "locbench"
	}
	return m, nil
}

func (c *client) remove(ctx context.Context, index string) error {
	_, err := c.DeleteIndex(index).Do(ctx)
	if elastic.IsNotFound(err) {
		return nil
	}
	return explain(err)
}

func (c *client) count(ctx context.Context, index string) (int64, error) {
	count, err := c.Count(index).Do(ctx)
	if err != nil {
		return 0, fmt.Errorf("count %s: %w", index, explain(err))
	}
	return count, nil
}
