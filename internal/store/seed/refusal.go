package seed

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/olivere/elastic/v7"

	"github.com/locbench/locbench/internal/text/contact"
)

// The types of Elasticsearch's errors that this package distinguishes.
const (
	blocked       = "cluster_block_exception"
	existsAlready = "resource_already_exists_exception"
)

// refusal is a response other than 2xx, to a request or for documents of a bulk, or invalid.
type refusal struct {
	status int    // 0: the response is invalid
	kind   string // Elasticsearch's error type; "" if there is none
	text   string // Elasticsearch's reason and what to do
}

func (e *refusal) Error() string { return e.text }

// explain returns the library's errors as a refusal with a reason, and other errors unchanged.
func explain(err error) error {
	e, ok := errors.AsType[*elastic.Error](err)
	if !ok {
		return err
	}
	text := strings.TrimSpace(fmt.Sprint("Elasticsearch returned ", e.Status, " ", http.StatusText(e.Status)))
	if e.Details != nil {
		text += ": " + clip(reasons(e.Details))
	} else {
		text += " without a reason, probably from a proxy"
	}
	return &refusal{e.Status, typeOf(e.Details), advised(text, remedy(e.Status, e.Details))}
}

func advised(text, remedy string) string {
	if remedy == "" {
		return text
	}
	return text + "; " + remedy
}

func statusOf(err error) int {
	if e, ok := errors.AsType[*refusal](err); ok {
		return e.status
	}
	return 0
}

func kindOf(err error) string {
	if e, ok := errors.AsType[*refusal](explain(err)); ok {
		return e.kind
	}
	return ""
}

func typeOf(e *elastic.ErrorDetails) string {
	if e == nil {
		return ""
	}
	return e.Type
}

// passing reports whether the same request may succeed a little later: the queue is full, or the
// server starts. A block with status 429 means a full disk, one with 503 a server that starts.
func passing(status int, kind string) bool {
	again := []int{http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusBadGateway,
		http.StatusServiceUnavailable, http.StatusGatewayTimeout}
	return slices.Contains(again, status) && (kind != blocked || status == http.StatusServiceUnavailable)
}

// passes reports whether a failed call may succeed later, such as after a broken connection.
func passes(err error) bool {
	if e, ok := errors.AsType[*refusal](err); ok {
		return passing(e.status, e.kind)
	}
	_, redirected := errors.AsType[*contact.RedirectError](err)
	_, long := errors.AsType[longError](err)
	_, rejected := errors.AsType[*RejectedError](err)
	_, silent := errors.AsType[silence](err)
	return !redirected && !long && !rejected && !silent
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

// remedy returns what a user can do about a refusal, or "". Elasticsearch 7 reports some causes
// only in the text of the reason; what is not found there only lacks a remedy.
func remedy(status int, e *elastic.ErrorDetails) string {
	kind, why := typeOf(e), ""
	if e != nil {
		why = reasons(e)
	}
	says := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(why, part) })
	}
	switch {
	case kind == blocked && says("disk usage exceeded", "read-only-allow-delete", "read-only / allow delete"):
		return "free disk space on the store's machine; if the block stays, lift it: " +
			`PUT /_all/_settings {"index.blocks.read_only_allow_delete": null}`
	case kind == blocked && status != http.StatusServiceUnavailable:
		return "lift the block: index.blocks.* in the settings of the index or a template, " +
			"cluster.blocks.* in the cluster settings"
	case status == http.StatusUnauthorized:
		return "add user and password to the URL: http://user:password@host:9200"
	case status == http.StatusForbidden:
		return "give the user in the URL (http://user:password@host:9200) these privileges: " +
			"monitor on the cluster; manage, write and read on the indices"
	case status == http.StatusRequestEntityTooLarge:
		return fmt.Sprintf("raise the size limit above %d KiB and the largest document: "+
			"http.max_content_length of Elasticsearch, client_max_body_size of nginx", DefaultBatch>>10)
	case status == http.StatusTooManyRequests || kind == "circuit_breaking_exception":
		return "use fewer --workers, or give Elasticsearch more memory"
	case says("maximum shards open", "maximum normal shards open"):
		return "remove indices, or raise cluster.max_shards_per_node"
	case kind == "unavailable_shards_exception":
		return "see GET /_cluster/allocation/explain for the reason"
	case kind == "mapper_parsing_exception", kind == "strict_dynamic_mapping_exception",
		says("total fields [", "mapper ["):
		return "the documents do not match the mapping: change one of them"
	case says("pipeline"), e != nil && e.Header["processor_type"] != nil, kind == "ingest_processor_exception":
		return "fix or remove the pipeline: index.default_pipeline and index.final_pipeline " +
			"in the settings of the index or a template"
	}
	return ""
}

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
	return s
}

// clip shortens a text from outside and makes it one line.
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
