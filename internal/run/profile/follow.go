package profile

import "github.com/locbench/locbench/internal/text/strictyaml"

// Redirects in a row that are followed.
const (
	defaultFollow = 10
	maxFollow     = 20
)

// follow is true, false, or how many redirects in a row are followed.
type follow struct {
	most  int
	given bool
}

// UnmarshalStrict reads a bool or a number.
func (f *follow) UnmarshalStrict(v strictyaml.Value) {
	f.given = true
	switch text, _ := v.Text(); text {
	case "true":
		f.most = defaultFollow
	case "false":
	default:
		v.Decode(&f.most)
		if f.most < 0 || f.most > maxFollow {
			v.Wrong("write `true` for up to 10 redirects in a row, `false`, or a number up to 20")
		}
	}
}

func (f follow) redirects() int { return f.most }
