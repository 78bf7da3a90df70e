package bench

// StoreKind says where Elasticsearch is.
type StoreKind string

const (
	StoreAuto      StoreKind = "auto"      // external if a URL was given, else embedded
	StoreEmbedded  StoreKind = "embedded"  // in this process
	StoreExternal  StoreKind = "external"  // a URL
	StoreContainer StoreKind = "container" // the official image, started for this run
	StoreNone      StoreKind = "none"      // the contenders need none
)

// StoreTraits are what a kind of store is to the rest of locbench, which asks for them and not for
// the kind.
type StoreTraits struct {
	Help      string // one line, for who chooses
	InClient  bool   // it uses the CPU time of the load generator
	Container bool   // it needs a container engine and may have CPUs of its own
	ByURL     bool   // somebody else runs it at a URL, and fills it
	Latency   bool   // it can respond as slowly as wanted
	None      bool   // there is none
}

// How each is opened is in package store.
var storeKinds = traits[StoreKind, StoreTraits]{
	{StoreAuto, StoreTraits{Help: "a URL if one is given, else embedded", InClient: true, Latency: true}},
	{StoreEmbedded, StoreTraits{Help: "inside locbench; shares CPUs with the load", InClient: true, Latency: true}},
	{StoreExternal, StoreTraits{Help: "an Elasticsearch 7 that runs already, at a URL", ByURL: true}},
	{StoreContainer, StoreTraits{Help: "the official image, started for this run", Container: true}},
	{StoreNone, StoreTraits{Help: "the contenders need none", None: true}},
}

// StoreKinds returns the names of all kinds.
func StoreKinds() []string { return storeKinds.names(func(StoreTraits) bool { return true }) }

// Traits returns those of the kind.
func (k StoreKind) Traits() StoreTraits { return storeKinds.get(k) }

// StoreSpec is the Elasticsearch that contenders ask.
type StoreSpec struct {
	Kind    StoreKind `json:"kind"`
	URL     string    `json:"url,omitempty"`        // external: e.g. http://10.0.0.5:9200
	Image   string    `json:"image,omitempty"`      // container
	Latency Duration  `json:"latency_ns,omitempty"` // embedded: median latency added to every response; 0 adds none
	// embedded: 99% quantile of the added latency; 0 means constant Latency
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

// NeedsURL says whether the store is one at a URL, and no URL is given.
func (s StoreSpec) NeedsURL() bool { return s.Kind.Traits().ByURL && s.URL == "" }
