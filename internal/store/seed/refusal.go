package seed

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/olivere/elastic/v7"

	"github.com/locbench/locbench/internal/text/safe"
)

// The types of Elasticsearch's errors that this package distinguishes.
const (
	blocked       = "cluster_block_exception"      // such as that of a full disk
	noNewIndex    = "index_create_block_exception" // of OpenSearch, with the status of a missing privilege
	existsAlready = "resource_already_exists_exception"
)

// permanent is an error of a call that does not pass: repeating it would not help.
type permanent struct{ error }

// Unwrap returns the error.
func (e permanent) Unwrap() error { return e.error }

// refusal is Elasticsearch's error with its status, reasons and what to do.
type refusal struct{ of *elastic.Error }

// Unwrap returns the library's error.
func (e refusal) Unwrap() error { return e.of }

func (e refusal) Error() string {
	text := strings.TrimSpace(fmt.Sprint("the store returned ", e.of.Status, " ", http.StatusText(e.of.Status)))
	if e.of.Details == nil {
		text += " without a reason, probably from a proxy"
	} else {
		text += ": " + reasons(e.of.Details)
	}
	remedy := remedies[e.of.Status]
	if e.of.Details != nil && e.of.Details.Type == noNewIndex {
		remedy = "free disk space for it: OpenSearch sets this block, cluster.blocks.create_index, on full disks"
	}
	if remedy != "" {
		text += "; " + remedy
	}
	return text
}

// remedies are what to do about a status.
var remedies = map[int]string{
	http.StatusUnauthorized: "add user and password to the URL: https://user:password@host:9200",
	http.StatusForbidden: "give the user in the URL (https://user:password@host:9200) monitor on the cluster; " +
		"manage, write and read on the indices; or lift the block",
	http.StatusRequestEntityTooLarge: fmt.Sprintf("raise the size limit above %d KiB and the largest document: "+
		"http.max_content_length of Elasticsearch, client_max_body_size of nginx", DefaultBatch>>10),
	http.StatusTooManyRequests: "use fewer --workers, give the store more memory, or free disk space for it",
}

// A server without one of its modules refuses a mapping in these words. For what the bundled mappings have: the module,
// and the requests of the locations API that need it.
var (
	lacks = regexp.MustCompile(
		`(?:handler for|The mapper) type \[([^\]]+)\]|failed to find filter under name \[([^\]]+)\]`)
	parts = map[string]string{
		"search_as_you_type": " (module mapper-extras), which GET /city/v1/search needs",
		"geo_shape":          " (module geo, legacy-geo or spatial), which GET /city/v1/closest needs",
		"asciifolding":       " (module analysis-common), which GET /city/v1/search needs",
	}
)

// lacking says what a server lacks that refused to create an index, and for what, and returns other errors unchanged.
func lacking(err error) error {
	e, _ := errors.AsType[*elastic.Error](err)
	if e == nil {
		return err
	}
	found := lacks.FindStringSubmatch(reasons(e.Details))
	if found == nil {
		return err
	}
	kind, part := "field type", found[1]
	if part == "" {
		kind, part = "token filter", found[2]
	}
	return fmt.Errorf("the server has no %s %s%s: use a full distribution of Elasticsearch or OpenSearch, "+
		"or another mapping; %w", kind, part, parts[part], err)
}

// explain returns the library's errors as a refusal, and other errors unchanged.
func explain(err error) error {
	if e, ok := errors.AsType[*elastic.Error](err); ok {
		return refusal{e}
	}
	return err
}

func statusOf(err error) int {
	if e, ok := errors.AsType[*elastic.Error](err); ok {
		return e.Status
	}
	return 0
}

// passing reports whether the same request may succeed a little later: the queue is full, or the
// server starts. A block with status 429 means a full disk, one with 503 a server that starts.
func passing(status int, e *elastic.ErrorDetails) bool {
	again := []int{http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusBadGateway,
		http.StatusServiceUnavailable, http.StatusGatewayTimeout}
	return slices.Contains(again, status) && (e == nil || e.Type != blocked || status == http.StatusServiceUnavailable)
}

// passes reports whether a failed call may succeed later, such as after a broken connection.
func passes(err error) bool {
	if e, ok := errors.AsType[*elastic.Error](err); ok {
		return passing(e.Status, e.Details)
	}
	_, lasts := errors.AsType[permanent](err)
	return !lasts
}

const (
	patience   = time.Minute // longest time to repeat a call
	firstPause = 100 * time.Millisecond
	maxPause   = 10 * time.Second
)

// retry repeats a call until it succeeds, its error is permanent, or patience has run out. It
// returns the last error of the call.
func retry(ctx context.Context, call func(again bool) error) error {
	began, pause := time.Now(), firstPause
	for again := false; ; again = true {
		err := explain(call(again))
		if err == nil || ctx.Err() != nil || !passes(err) {
			return err
		}
		if time.Since(began) > patience {
			return fmt.Errorf("gave up after %v: %w", time.Since(began).Round(time.Second), err)
		}
		select {
		case <-time.After(pause/2 + rand.N(pause/2)):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		pause = min(2*pause, maxPause)
	}
}

// maxText is how many bytes of a text of Elasticsearch are shown.
const maxText = 500

// reasons joins the reasons of an error, from the outermost to the root cause.
func reasons(e *elastic.ErrorDetails) string {
	if e == nil {
		return "no reason given"
	}
	s := e.Type + ": " + e.Reason
	for cause, depth := e.CausedBy, 0; cause != nil && depth < 5; depth++ {
		if reason, ok := cause["reason"].(string); ok {
			s += ": " + reason
		}
		cause, _ = cause["caused_by"].(map[string]any)
	}
	return safe.Line(strings.TrimSuffix(s, ";"), maxText)
}
