package bench

import "encoding/json"

// AnyTarget is what a service is called that runs already, when nobody gave it a name.
const AnyTarget = "target"

// Target is a service that runs already.
type Target struct {
	Name string `json:"name"` // of the contender
	URL  string `json:"url"`  // origin, and the path before those of the requests
}

// TLS is whom the client trusts.
type TLS struct {
	CACert   string `json:"ca_cert,omitempty"`  // the file with certificates that are trusted besides those of the system
	Insecure bool   `json:"insecure,omitempty"` // any certificate is accepted
}

// Args returns the options of the command line that say so.
func (t *TLS) Args() []string {
	switch {
	case t == nil:
		return nil
	case t.Insecure:
		return []string{"--insecure"}
	}
	return []string{"--cacert", t.CACert}
}

// UnmarshalJSON also reads runs that name the address of their only target alone.
func (r *Run) UnmarshalJSON(data []byte) error {
	type plain Run
	var before struct {
		Target string `json:"target"`
	}
	if err := json.Unmarshal(data, (*plain)(r)); err != nil {
		return err
	}
	if err := json.Unmarshal(data, &before); err != nil || before.Target == "" || len(r.Targets) > 0 {
		return err
	}
	name := AnyTarget
	if len(r.Profile.Contenders) == 1 {
		name = r.Profile.Contenders[0].String()
	}
	r.Targets = []Target{{name, before.Target}}
	return nil
}

// TargetOf returns the address at which a contender runs already; "" where it is started.
func (r Run) TargetOf(sel Selection) string {
	for _, t := range r.Targets {
		if t.Name == sel.String() {
			return t.URL
		}
	}
	return ""
}
