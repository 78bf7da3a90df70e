package locations

// language is an index into languages.
type language int

// languages in the order in which names holds them.
var languages = [...]struct{ code, home string }{
	{"cs", "CZ"}, {"de", "DE"}, {"en", "CZ"}, {"pl", "PL"}, {"sk", "SK"},
}

// code is the two-letter ISO 639-1 code.
func (l language) code() string { return languages[l].code }

// home is the ISO 3166-1 code of the language's home country.
func (l language) home() string { return languages[l].home }

// names are the names of a place in all languages, under the keys that documents have.
type names struct {
	CS string `json:"name.cs"`
	DE string `json:"name.de"`
	EN string `json:"name.en"`
	PL string `json:"name.pl"`
	SK string `json:"name.sk"`
}

func (n *names) in(l language) string {
	return [...]string{n.CS, n.DE, n.EN, n.PL, n.SK}[l]
}
