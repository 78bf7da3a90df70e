package bench

import "encoding/json"

// AnyTarget is what a service is called that runs already, when nobody gave it a name.
const AnyTarget = "target"

// Target is a service that runs already.
type Target struct {
	Name string `json:"name"` // of the contender
	URL  string `json:"url"`  // origin, and the path before those of the requests
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

// TargetOf is the address at which a contender runs already; "" where it is started.
func (r Run) TargetOf(sel Selection) string {
	for _, t := range r.Targets {
		if t.Name == sel.String() {
			return t.URL
		}
	}
	return ""
}
