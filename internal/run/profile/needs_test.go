package profile_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/needs/kinds"
	"github.com/locbench/locbench/internal/run/profile"
	"github.com/locbench/locbench/internal/testenv"
	"github.com/locbench/locbench/internal/text/strictyaml"
)

// anyName is the form of a kind for needs of any name.
type anyName struct {
	Image string   `yaml:"image" json:"image" strict:"required"`
	After []string `yaml:"after" json:"after,omitempty"`
	Keep  bool     `yaml:"keep" json:"keep,omitempty"`
	GiB   int64    `yaml:"gib" json:"gib,omitempty"`
	Only  string   `yaml:"only" json:"only,omitempty"`
}

// withAnyName adds that kind for a test.
func withAnyName(t *testing.T) {
	all := kinds.All
	t.Cleanup(func() { kinds.All = all })
	of := func(n bench.NeedSpec) anyName { return testenv.Must(bench.ReadForm[anyName](n.Of))(t) }
	kinds.All = append(slices.DeleteFunc(slices.Clone(all), func(k needs.Kind) bool { return k.Name == "container" }), needs.Kind{
		Name: "container",
		Read: func(v strictyaml.Value) bench.NeedSpec {
			var f anyName
			v.Decode(&f)
			return bench.NeedSpec{From: bench.NeedContainer, Of: bench.FormOf(f)}
		},
		Traits: func(n bench.NeedSpec) needs.Traits {
			f := of(n)
			return needs.Traits{After: f.After, Restarts: !f.Keep, Own: f.Only == "", Memory: f.GiB << 30, Shared: f.Only}
		},
	})
}

const ofNeeds = "contenders: [a, b]\nrequests: [{get: /}]\nsteps: [1]\n"

// TestNeeds: needs of any name are of one kind; what is written is read again. Those with their own
// kinds stay of these.
func TestNeeds(t *testing.T) {
	withAnyName(t)
	p, err := profile.Parse("p.yaml", []byte(ofNeeds+"needs: {elasticsearch: {}, db: {image: 'postgres:17'}, my-cache_2: {image: redis, after: [db], keep: true}}\n"))
	testenv.OK(t, err)
	var got []string
	for _, n := range p.Needs {
		got = append(got, n.Name+" "+n.Kind)
	}
	testenv.Equal(t, got, []string{"elasticsearch elasticsearch", "db container", "my-cache_2 container"})
	roundTrip(t, p)
}

func TestNeeds_Mistakes(t *testing.T) {
	withAnyName(t)
	many := ""
	for i := range 21 {
		many += fmt.Sprintf("  n%d: {image: i}\n", i)
	}
	for name, test := range map[string]struct{ text, want string }{
		"name": {
			"needs:\n  Db:\n    image: i\n",
			"p.yaml:5: \"Db\" cannot be the name of a need; write up to 63 lower-case letters, digits, `-` and `_`: it is the host name of the need",
		},
		"own kind, mistyped": {"needs:\n  elasticserch: {}\n", "p.yaml:5: unknown key `needs.elasticserch`; did you mean `elasticsearch`?"},
		"near an own kind":   {"needs:\n  elasticsearch2: {image: i}\n", ""},
		"key":                {"needs:\n  db:\n    image: i\n    restart: always\n", "p.yaml:7: unknown key `needs.db.restart`; known keys: image, after, keep, gib, only"},
		"neither": {
			"needs:\n  cache:\n    keep: true\n",
			"p.yaml:5: `needs.cache` has none of `image`, `dockerfile`, `external`; write one of them; needs with their own keys: elasticsearch",
		},
		"key of an image": {"needs:\n  db:\n    imgae: i\n", "p.yaml:6: unknown key `needs.db.imgae`; did you mean `image`?"},
		"too many":        {"needs:\n" + many, "p.yaml:5: 21 needs; write at most 20"},
		"after": {
			"needs:\n  db: {image: i}\n  cache:\n    image: i\n    after:\n      - db\n      - bd\n",
			"p.yaml:10: `needs.cache.after[1]` is \"bd\"; did you mean `db`?",
		},
		"after nothing": {"needs:\n  db:\n    image: i\n    after: [x]\n", "p.yaml:7: `needs.db.after[0]` is \"x\"; remove it"},
		"after itself":  {"needs:\n  db:\n    image: i\n    after: [db]\n", "p.yaml:7: `db` comes after itself; remove it"},
		"in a circle": {
			"needs:\n  db: {image: i, after: [c]}\n  b: {image: i, after: [db]}\n  c:\n    image: i\n    after: [b]\n",
			"p.yaml:6: `b` and `db` come after each other; remove one of the two\np.yaml:9: `c` and `b` come after each other; remove one of the two",
		},
		"interleaved":       {"needs: {db: {image: i}}\ninterleave: 100ms\n", ""},
		"interleaved, kept": {"needs: {db: {image: i, keep: true}}\ninterleave: 100ms\n", ""},
		"not interleaved":   {"needs: {db: {image: i}}\ninterleave: off\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := profile.Parse("p.yaml", []byte(ofNeeds+test.text))
			if test.want == "" {
				testenv.OK(t, err)
				return
			}
			testenv.Equal(t, fmt.Sprint(err), test.want)
		})
	}
}

// TestSettle_Needs: contenders are interleaved if each can have its needs for itself, and all fit
// into memory. The reason against it names the need or the sums.
func TestSettle_Needs(t *testing.T) {
	withAnyName(t)
	const db = "db: {image: i, gib: 1}"
	for text, want := range map[string]string{
		"needs: {" + db + "}\n":                                              "",
		"needs: {" + db + "}\ninterleave: off\n":                             "chosen: the profile or the command says so",
		"needs: {" + db + "}\ninterleave: 200ms\n":                           "",
		"needs: {" + db + "}\nfirst_requests: {requests: 10}\n":              "first requests: first_requests times a contender that runs alone",
		"needs: {db: {image: i, keep: true}}\n":                              "",
		"needs: {" + db + ", cache: {image: i, only: is external}}\n":        "needs: cache is external",
		"needs: {cache: {image: i, only: is external}}\ninterleave: 100ms\n": "",
		"needs: {elasticsearch: {}}\n":                                       "",
		"needs: {db: {image: i, gib: 4}}\n": "memory: 2 contenders and their own needs may use 8.12 GiB, " +
			"this machine has 8 GiB free, and the client takes 1 GiB",
		"needs: {db: {image: i}, cache: {image: i}}\n": "",
		"needs: {db: {image: i}}\nlimits: {cpus: 1}\ncontenders: [a, b, c, d, e]\n": "contenders: 5 contenders, or needs of theirs, " +
			"have no memory limit, and at most 4 such run at the same time",
	} {
		base := ofNeeds
		if strings.Contains(text, "contenders:") {
			_, base, _ = strings.Cut(ofNeeds, "\n")
		} else {
			base += "limits: {memory: 64MiB}\n"
		}
		p, err := profile.Parse("p.yaml", []byte(base+text))
		testenv.OK(t, err)
		settled, why := profile.Settle(p, 8<<30)
		got := ""
		if why != nil {
			got = string(why.Reason) + ": " + why.Text
		}
		testenv.Equal(t, got, want, text)
		testenv.Equal(t, settled.Interleave > 0, want == "", text)
		db := slices.ContainsFunc(settled.Needs, func(n bench.NeedSpec) bool { return n.Name == "db" && n.Own })
		testenv.Equal(t, db, want == "" && strings.Contains(text, "db:"), text)
		testenv.Equal(t, settled.Rounds, map[bool]int{true: profile.InterleavedRounds, false: profile.PlainRounds}[want == ""], text)
	}
}
