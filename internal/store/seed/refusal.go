package seed

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode"

	"github.com/olivere/elastic/v7"

	"locbench/internal/text/contact"
)

// The types of Elasticsearch's errors that decide something.
const (
	blocked       = "cluster_block_exception"
	existsAlready = "resource_already_exists_exception"
)

// refusal is an answer other than 2xx, to a request or about documents of a bulk.
type refusal struct {
	status int
	kind   string // Elasticsearch's type of the error; "" where it gave none
	text   string // its words and what to do
}

func (e *refusal) Error() string { return e.text }

// explain turns the library's errors into words.
func explain(err error) error {
	e, ok := errors.AsType[*elastic.Error](err)
	if !ok {
		return err
	}
	text := strings.TrimSpace(fmt.Sprint("Elasticsearch answered ", e.Status, " ", http.StatusText(e.Status)))
	if e.Details != nil {
		text += ": " + clip(reasons(e.Details))
	} else {
		text += " without a reason, as a proxy before it does"
	}
	return &refusal{e.Status, kindOf(e.Details), advised(text, remedy(e.Status, e.Details))}
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

func kindOf(e *elastic.ErrorDetails) string {
	if e == nil {
		return ""
	}
	return e.Type
}

// outlook is what the same request would meet a little later.
type outlook int

const (
	lasting  outlook = iota // the same, until somebody does something about it
	doubtful                // perhaps something else
	passing                 // probably something else: a queue is full, or a server starts
)

func outlookOf(status int, kind string) outlook {
	switch status {
	case http.StatusServiceUnavailable: // also of a block: a cluster that starts
		return passing
	case http.StatusTooManyRequests: // of a block: a full disk
		if kind == blocked {
			return lasting
		}
		return passing
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusBadGateway, http.StatusGatewayTimeout:
		return passing
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported, http.StatusInsufficientStorage,
		http.StatusNetworkAuthenticationRequired:
		return lasting
	}
	if status >= 500 && kind != blocked {
		return doubtful
	}
	return lasting
}

// outlookAfter is the outlook after a call that failed.
func outlookAfter(err error) outlook {
	if e, ok := errors.AsType[*refusal](err); ok {
		return outlookOf(e.status, e.kind)
	}
	_, redirected := errors.AsType[*contact.RedirectError](err)
	_, long := errors.AsType[longError](err)
	if redirected || long || errors.Is(err, errAnswer) {
		return lasting
	}
	return passing // the connection broke, or there was none
}

// ofStore reports whether a lasting refusal of a document is about the store, so that every other
// document would meet it too.
func ofStore(status int, kind string) bool {
	switch kind {
	case blocked, "security_exception", "index_not_found_exception", "index_closed_exception", "validation_exception":
		return true
	}
	return status == http.StatusUnauthorized || status == http.StatusForbidden
}

// remedy is what a user can do about a refusal; "" where its reason has to do.
func remedy(status int, e *elastic.ErrorDetails) string {
	kind, why := kindOf(e), ""
	if e != nil {
		why = reasons(e)
	}
	says := func(parts ...string) bool {
		for _, part := range parts {
			if strings.Contains(why, part) {
				return true
			}
		}
		return false
	}
	switch {
	case kind == blocked && says("disk usage exceeded", "read-only-allow-delete", "read-only / allow delete"):
		return "free disk space there; if the block stays, lift it: " +
			`PUT /_all/_settings {"index.blocks.read_only_allow_delete": null}`
	case kind == blocked && status != http.StatusServiceUnavailable:
		return "lift the block: index.blocks.* in the settings of the index or of a template, " +
			"cluster.blocks.* in those of the cluster"
	case status == http.StatusUnauthorized:
		return "put user and password into the URL: http://user:password@host:9200"
	case status == http.StatusForbidden:
		return "a user in the URL (http://user:password@host:9200) needs the privileges: " +
			"monitor on the cluster, manage, write and read on the indices"
	case status == http.StatusRequestEntityTooLarge:
		return "raise the limit on the way: http.max_content_length of Elasticsearch, client_max_body_size of nginx"
	case kind == "circuit_breaking_exception":
		return "use fewer --workers, or give Elasticsearch more memory"
	case status == http.StatusTooManyRequests:
		return "use fewer --workers, or wait until others write less"
	case says("maximum shards open", "maximum normal shards open"):
		return "remove indices, or raise cluster.max_shards_per_node"
	case kind == "unavailable_shards_exception":
		return "GET /_cluster/allocation/explain says why the shard does not start"
	case kind == "mapper_parsing_exception", kind == "strict_dynamic_mapping_exception",
		says("total fields [", "mapper ["):
		return "the documents do not fit the mapping: change one of them"
	case says("pipeline"), e != nil && e.Header["processor_type"] != nil, kind == "ingest_processor_exception":
		return "mend or remove the pipeline: index.default_pipeline and index.final_pipeline " +
			"in the settings of the index or of a template"
	}
	return ""
}

// reasons joins the reasons of an error down to the root.
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

// errAnswer is an answer that makes no sense; trying again would not help.
var errAnswer = errors.New("answer of _bulk")

// outcomes are what has become of the documents of a bulk request, in their order.
func outcomes(answer *elastic.BulkResponse, docs int) ([]*elastic.BulkResponseItem, error) {
	items := make([]*elastic.BulkResponseItem, 0, docs)
	for i, actions := range answer.Items {
		for _, it := range actions {
			if it == nil || it.Status < 200 || it.Status > 599 {
				return nil, fmt.Errorf("%w: item %d has no status", errAnswer, i)
			}
			items = append(items, it)
		}
	}
	if len(answer.Items) != docs || len(items) != docs {
		return nil, fmt.Errorf("%w: %d items for %d documents", errAnswer, len(items), docs)
	}
	return items, nil
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
