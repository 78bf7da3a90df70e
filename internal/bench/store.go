package bench

// StoreKind is where Elasticsearch runs.
type StoreKind string

// The kinds of stores.
const (
	StoreAuto      StoreKind = "auto"      // external if a URL was given, else embedded
	StoreEmbedded  StoreKind = "embedded"  // in the locbench process
	StoreExternal  StoreKind = "external"  // a URL
	StoreContainer StoreKind = "container" // the official image, started for this run
	StoreNone      StoreKind = "none"      // the contenders need no store
)

// StoreTraits are the properties of a kind of store. Other code decides by them, not by the kind.
type StoreTraits struct {
	Help      string // one line of help
	InClient  bool   // it runs in the client and uses its CPU time
	Container bool   // it runs in a container and may have a separate CPU set
	ByURL     bool   // it runs at a URL; locbench does not start it
	Latency   bool   // its latency can be set
	None      bool   // there is none
}

// storeKinds lists the kinds in display order. Package store opens them.
var storeKinds = traits[StoreKind, StoreTraits]{
	{StoreAuto, StoreTraits{Help: "a URL if one is given, else embedded", InClient: true, Latency: true}},
	{StoreEmbedded, StoreTraits{Help: "inside locbench; shares CPUs with the load", InClient: true, Latency: true}},
	{StoreExternal, StoreTraits{Help: "an Elasticsearch 7 that runs already, at a URL", ByURL: true}},
	{StoreContainer, StoreTraits{Help: "the official image, started for this run", Container: true}},
	{StoreNone, StoreTraits{Help: "the contenders need none", None: true}},
}

// StoreKinds returns the names of all kinds.
func StoreKinds() []string { return storeKinds.names(func(StoreTraits) bool { return true }) }

// Traits returns the properties of the kind.
func (k StoreKind) Traits() StoreTraits { return storeKinds.get(k) }

// StoreSpec chooses the Elasticsearch that the contenders use.
type StoreSpec struct {
	Kind    StoreKind `json:"kind"`
	URL     string    `json:"url,omitempty"`        // external: e.g. http://10.0.0.5:9200
	Image   string    `json:"image,omitempty"`      // container
	Latency Duration  `json:"latency_ns,omitempty"` // embedded: median latency added to every response; 0 adds none
	// embedded: p99 of the added latency; 0: every response gets exactly Latency
	P99 Duration `json:"p99_ns,omitempty"`
}

// Chosen returns the kind that "auto" stands for.
func (s StoreSpec) Chosen() StoreKind {
	switch {
	case s.Kind != StoreAuto && s.Kind != "":
		return s.Kind
	case s.URL != "":
		return StoreExternal
	}
	return StoreEmbedded
}

// NeedsURL reports whether the store needs a URL and has none.
func (s StoreSpec) NeedsURL() bool { return s.Kind.Traits().ByURL && s.URL == "" }
