package seed

import (
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
)

// Bounds of what a server may do to us.
const (
	maxAnswer     = 64 << 20
	askTimeout    = 10 * time.Second // for a question, from its first byte to the last one of its answer
	changeTimeout = 2 * time.Minute  // for what changes something, such as a bulk request, likewise
)

// client makes the calls that the package comment lists.
type client struct {
	es        *elastic.Client
	transport *http.Transport
	name      string // the URL without a password
}

func connect(rawURL string, workers int, ask, change time.Duration) (*client, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return nil, errors.New("the URL of Elasticsearch cannot be parsed") // err would repeat a password in it
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, fmt.Errorf("the URL of Elasticsearch is %q; want something like http://127.0.0.1:9200", u.Redacted())
	}
	transport := &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
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
		elastic.SetHttpClient(doer{&http.Client{Transport: transport}, ask, change}),
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

func (c *client) close() { c.transport.CloseIdleConnections() }

// doer bounds answers, in length and in time.
type doer struct {
	*http.Client
	ask, change time.Duration
}

// Do sends req. The time counts until its answer is read, or closed.
func (d doer) Do(req *http.Request) (*http.Response, error) {
	within := silence(d.change)
	if req.Method == http.MethodGet || strings.HasSuffix(req.URL.Path, "/_count") {
		within = silence(d.ask)
	}
	ctx, cancel := context.WithTimeoutCause(req.Context(), time.Duration(within), within)
	resp, err := d.Client.Do(req.WithContext(ctx))
	if err != nil {
		if context.Cause(ctx) == within {
			err = within
		}
		cancel()
		return nil, err
	}
	resp.Body = &timedBody{Reader: io.LimitReader(resp.Body, maxAnswer), body: resp.Body, ctx: ctx, cancel: cancel}
	return resp, nil
}

// silence is the error of a request that was not answered within that time.
type silence time.Duration

func (s silence) Error() string { return fmt.Sprintf("no answer within %v", time.Duration(s)) }

func isSilence(err error) bool {
	_, ok := errors.AsType[silence](err)
	return ok
}

// timedBody is the body of an answer that must be read before ctx ends.
type timedBody struct {
	io.Reader
	body   io.Closer
	ctx    context.Context
	cancel context.CancelFunc
}

func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if late, ok := context.Cause(b.ctx).(silence); ok && err != nil && err != io.EOF {
		err = late
	}
	return n, err
}

func (b *timedBody) Close() error {
	defer b.cancel()
	return b.body.Close()
}

// revive is not about trying again (package seed does that itself): the library marks its only node as dead after an error, and
// its next call would fail merely to mark it as alive again.
type revive struct{}

func (revive) Retry(_ context.Context, n int, _ *http.Request, _ *http.Response, err error) (time.Duration, bool, error) {
	return 0, elastic.IsConnErr(err) && n <= 2, nil
}

// call makes one call and decodes its answer into out, unless that is nil. path must be escaped.
func (c *client) call(ctx context.Context, method, path string, body, out any) error {
	opt := elastic.PerformRequestOptions{Method: method, Path: path}
	if body != nil {
		opt.Body = body
	}
	resp, err := c.es.PerformRequest(ctx, opt)
	if err != nil {
		return c.explain(err)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(resp.Body, out); err != nil {
		return fmt.Errorf("%s %s: answer %.100q: %w", method, path, resp.Body, err)
	}
	return nil
}

// explain turns the library's errors into words.
func (c *client) explain(err error) error {
	var e *elastic.Error
	if !errors.As(err, &e) {
		return err
	}
	if e.Details == nil {
		return &statusError{e.Status, "Elasticsearch answered " + statusText(e.Status)}
	}
	reason := e.Details.Reason
	if cause, ok := e.Details.CausedBy["reason"].(string); ok {
		reason += ": " + cause
	}
	return &statusError{e.Status, fmt.Sprintf("Elasticsearch answered %s: %s: %s", statusText(e.Status), e.Details.Type, clip(reason))}
}

func statusText(status int) string {
	return strings.TrimSpace(fmt.Sprint(status, " ", http.StatusText(status)))
}

// statusError is an answer other than 2xx.
type statusError struct {
	status int
	text   string
}

func (e *statusError) Error() string { return e.text }

func statusOf(err error) int {
	var e *statusError
	if errors.As(err, &e) {
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

// version is the number of a reachable Elasticsearch 7; anything else is an error that says what to do.
func (c *client) version(ctx context.Context) (string, error) {
	var root struct {
		Version struct {
			Number       string `json:"number"`
			Distribution string `json:"distribution"`
		} `json:"version"`
	}
	err := c.call(ctx, http.MethodGet, "/", nil, &root)
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
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	return errors.As(err, &syntax) || errors.As(err, &kind) || errors.Is(err, io.ErrUnexpectedEOF)
}

func path(index, rest string) string { return "/" + url.PathEscape(index) + rest }

// indices tells all indices and the aliases that point to each.
func (c *client) indices(ctx context.Context) (map[string][]string, error) {
	var answer map[string]struct {
		Aliases map[string]json.RawMessage `json:"aliases"`
	}
	if err := c.call(ctx, http.MethodGet, "/_alias", nil, &answer); err != nil {
		return nil, fmt.Errorf("list the aliases: %w", err)
	}
	all := make(map[string][]string, len(answer))
	for index, a := range answer {
		all[index] = []string{}
		for alias := range a.Aliases {
			all[index] = append(all[index], alias)
		}
	}
	return all, nil
}

// mark reads locbench's mark; the zero mark where the index has none.
func (c *client) mark(ctx context.Context, index string) (mark, error) {
	var answer map[string]struct {
		Mappings struct {
			Meta struct {
				Locbench json.RawMessage `json:"locbench"`
			} `json:"_meta"`
		} `json:"mappings"`
	}
	if err := c.call(ctx, http.MethodGet, path(index, "/_mapping"), nil, &answer); err != nil {
		return mark{}, fmt.Errorf("mapping of %s: %w", index, err)
	}
	var m mark
	if raw := answer[index].Mappings.Meta.Locbench; raw != nil && json.Unmarshal(raw, &m) != nil {
		return mark{}, nil // somebody else's idea of "locbench"
	}
	return m, nil
}

func (c *client) create(ctx context.Context, index string, body json.RawMessage) error {
	return c.call(ctx, http.MethodPut, path(index, ""), string(body), nil)
}

func (c *client) settings(ctx context.Context, index string, body json.RawMessage) error {
	return c.call(ctx, http.MethodPut, path(index, "/_settings"), string(body), nil)
}

func (c *client) refresh(ctx context.Context, index string) error {
	return c.call(ctx, http.MethodPost, path(index, "/_refresh"), nil, nil)
}

func (c *client) remove(ctx context.Context, index string) error {
	err := c.call(ctx, http.MethodDelete, path(index, ""), nil, nil)
	if statusOf(err) == http.StatusNotFound {
		return nil
	}
	return err
}

func (c *client) count(ctx context.Context, index string) (int64, error) {
	var answer struct {
		Count *int64 `json:"count"`
	}
	err := c.call(ctx, http.MethodPost, path(index, "/_count"), nil, &answer)
	if err == nil && answer.Count == nil {
		err = errors.New("the answer has no count")
	}
	if err != nil {
		return 0, fmt.Errorf("count %s: %w", index, err)
	}
	return *answer.Count, nil
}

type aliasTarget struct {
	Index string `json:"index"`
	Alias string `json:"alias"`
}

type aliasAction struct {
	Remove *aliasTarget `json:"remove,omitempty"`
	Add    *aliasTarget `json:"add,omitempty"`
}

func (c *client) aliases(ctx context.Context, actions []aliasAction) error {
	return c.call(ctx, http.MethodPost, "/_aliases", map[string]any{"actions": actions}, nil)
}
