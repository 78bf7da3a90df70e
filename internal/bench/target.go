package bench

// AnyTarget is the name of a target that was given without one.
const AnyTarget = "target"

// Target is a running service that locbench did not start.
type Target struct {
	Name string `json:"name"` // name of the contender
	URL  string `json:"url"`  // origin, and the path prefix of the requests
}

// TLS says which certificates the client accepts.
type TLS struct {
	CACert   string `json:"ca_cert,omitempty"`  // file with trusted certificates, in addition to those of the system
	Insecure bool   `json:"insecure,omitempty"` // any certificate is accepted
}

// Args returns the equivalent command-line options.
func (t *TLS) Args() []string {
	switch {
	case t == nil:
		return nil
	case t.Insecure:
		return []string{"--insecure"}
	}
	return []string{"--cacert", t.CACert}
}

// TargetOf returns the URL of a contender that is a target; "" if locbench starts it.
func (r Run) TargetOf(sel Selection) string {
	for _, t := range r.Targets {
		if t.Name == sel.String() {
			return t.URL
		}
	}
	return ""
}
