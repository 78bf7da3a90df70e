package locations

import (
	"fmt"
	"net/http"
)

// problem is an answer other than 200. Its message names the parameter at fault.
type problem struct {
	status  int
	Message string `json:"message"`
}

func (p *problem) Error() string { return p.Message }

// notFound says that param leads to nothing.
func notFound(param, format string, args ...any) error {
	return &problem{http.StatusNotFound, param + ": " + fmt.Sprintf(format, args...)}
}

var (
	errStore  = &problem{http.StatusBadGateway, "store: Elasticsearch did not answer as it should"}
	errMethod = &problem{http.StatusMethodNotAllowed, "method: only GET is served here"}
	errPath   = &problem{http.StatusNotFound, "path: there is nothing here; see /api-docs"}
)

// statusGone is logged for a request whose client went away before its answer was there.
const statusGone = 499
