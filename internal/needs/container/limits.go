package container

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/locbench/locbench/internal/text/strictyaml"
)

// cpus is a number of CPUs. Compose files have it in quotes.
type cpus float64

// UnmarshalStrict reads a number.
func (c *cpus) UnmarshalStrict(v strictyaml.Value) {
	text, ok := v.Text()
	if !ok {
		return
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n >= 0.01 && n <= 1024) {
		v.Wrong("write a number of CPUs from 0.01 to 1024, such as 0.5")
		return
	}
	*c = cpus(n)
}

// mainPort is the name of the port whose address is the service's.
const mainPort = "main"

// ports are ports of the container by their names.
type ports map[string]int

var portName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,30}$`)

const portsHint = "write a port of the container, such as `ports: 5432`, or `{main: 9092, admin: 8080}`: no port is published"

// UnmarshalStrict reads a number or a map of numbers.
func (p *ports) UnmarshalStrict(v strictyaml.Value) {
	number := func(v strictyaml.Value) int {
		text, ok := v.Text()
		n, err := strconv.Atoi(text)
		if ok && (err != nil || n < 1 || n > 65535) {
			v.Wrong("write a port of the container, from 1 to 65535")
		}
		return n
	}
	switch v.Kind() {
	case strictyaml.Scalar:
		*p = ports{mainPort: number(v)}
	case strictyaml.Map:
		out := ports{}
		for _, f := range v.Fields() {
			if !portName.MatchString(f.Key) {
				f.Value.Mistake(fmt.Sprintf("a port has the name %.40q", f.Key), "write lower-case letters, digits and _")
			}
			out[f.Key] = number(f.Value)
		}
		if _, ok := out[mainPort]; !ok {
			v.Mistake("no port is named `main`", "write `main` for the port that contenders use")
		}
		*p = out
	default:
		v.Wrong(portsHint)
	}
}

// ulimit is a limit of processes; -1: none.
type ulimit struct {
	Soft int64 `json:"soft" yaml:"soft" strict:"required,min=-1" example:"1024"`
	Hard int64 `json:"hard" yaml:"hard" strict:"required,min=-1" example:"65536"`
}

type ulimitMap ulimit

// UnmarshalStrict reads a number or {soft: …, hard: …}.
func (u *ulimit) UnmarshalStrict(v strictyaml.Value) {
	if v.Kind() == strictyaml.Map {
		var m ulimitMap
		v.Decode(&m)
		*u = ulimit(m)
		return
	}
	text, ok := v.Text()
	n, err := strconv.ParseInt(text, 10, 64)
	if ok && (err != nil || n < -1) {
		v.Wrong("write a number, -1 for no limit, or {soft: 1024, hard: 65536}")
	}
	*u = ulimit{n, n}
}
