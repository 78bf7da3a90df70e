package workload

import (
	"fmt"

	"github.com/locbench/locbench/internal/bench"
)

// expected is a value of the request that its expectation names.
type expected struct {
	name string
	part part
}

// expectation adds the values that the expectation of the request names.
func (c *composer) expectation() error {
	for _, p := range c.spec.ExpectedPlaces() {
		if c.request.expects(p.Name) != nil {
			continue
		}
		made, err := c.place(bench.Part{Name: p.Name}, plain)
		if err != nil {
			return fmt.Errorf("expect: `%s`: %w", p.Text, err)
		}
		c.request.expected = append(c.request.expected, expected{p.Name, made})
	}
	return nil
}

func (r *Request) expects(name string) *expected {
	for i := range r.expected {
		if r.expected[i].name == name {
			return &r.expected[i]
		}
	}
	return nil
}

// valuesOf returns the values that the user's last request was sent with, by name.
func (r *Request) valuesOf(u *User) func(name string) string {
	if len(r.expected) == 0 {
		return nil
	}
	return func(name string) string {
		e := r.expects(name)
		if e == nil {
			return ""
		}
		return string(e.part.append(nil, u))
	}
}
