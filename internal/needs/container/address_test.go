package container

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/needs"
	"github.com/locbench/locbench/internal/testenv"
)

// TestAddress_OfProcesses: contenders on this machine get the container's address, and of a
// published port only that one.
func TestAddress_OfProcesses(t *testing.T) {
	for inside, want := range map[string]bench.NeedAddress{
		"172.18.0.3:5672": {URL: "amqp://guest:guest@172.18.0.3:5672", Host: "172.18.0.3", Port: "5672", User: "guest", Password: "guest",
			Ports: map[string]string{"main": "5672", "management": "15672"}},
		"10.1.1.1:5672": {URL: "amqp://guest:guest@172.18.0.3:5672", Host: "172.18.0.3", Port: "5672", User: "guest", Password: "guest",
			Ports: map[string]string{"main": "5672"}},
	} {
		f := newFixture(t, "image: rabbitmq")
		f.ports = f.spec.Ports
		testenv.Equal(t, f.addressOf(&fakeServed{address: "172.18.0.3:5672", inside: inside}), want)
	}
	f := newFixture(t, "image: kafka")
	f.place.Network = needs.Network{}
	testenv.Fails(t, f.Open(t.Context(), f.place), "clients of kafka connect to the name that it gives them", "--runtime docker")
}

// TestVariables: the variables of a file, then those of the profile; missing ones are named.
func TestVariables(t *testing.T) {
	f := newFixture(t, "image: a\nports: 1\nenv_file: vars.env\nenvironment: {B: \"<${PW:?write it}>\", E: $$x}")
	f.at = f.place
	testenv.OK(t, f.fillIn())
	testenv.Equal(t, f.env, map[string]string{"A": "1", "B": "<p@y/ 100%#1>", "C": "x", "D": "", "E": "$x", "TOKEN": "of-a-file"})
	testenv.Check(t, slices.Contains(*f.hidden, "of-a-file") && slices.Contains(*f.hidden, "p@y/ 100%#1"), "a secret is not masked: %q", *f.hidden)
	testenv.Check(t, !strings.Contains(f.of.Of.String(), "100%") && strings.Contains(f.of.Of.String(), "${PW:?"), "the spec has a value of a variable")
	f = newFixture(t, "image: a\nenvironment: {B: \"${NONE}\", C: null}\nseed: [{command: [x, '${LATER}']}]")
	testenv.Fails(t, f.Open(context.Background(), f.place), "db: environment variable unset or empty: NONE, C, LATER")
}
