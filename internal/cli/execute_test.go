package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"locbench/internal/bench"
)

func TestTheRecordHoldsNoPassword(t *testing.T) {
	run := bench.Run{
		Profile: bench.Profile{Store: bench.StoreSpec{Kind: bench.StoreExternal, URL: "http://elastic:secret@10.0.0.5:9200"}},
		Target:  "http://me:secret@127.0.0.1:8080",
		Command: []string{"locbench", "run", "--elastic", "http://elastic:secret@10.0.0.5:9200", "--target=http://me:secret@127.0.0.1:8080", "--rounds", "6",
			"--push-url", "http://me:secret@127.0.0.1:9091/?token=secret", "--push-url=http://me:secret@h/?token=secret"},
	}
	data, err := json.Marshal(public(run))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(data), "secret") {
		t.Errorf("the record holds a password: %s", data)
	}
	if !strings.Contains(string(data), "http://10.0.0.5:9200") || !strings.Contains(string(data), `"6"`) {
		t.Errorf("the record lost more than the passwords: %s", data)
	}
	if !strings.Contains(run.Profile.Store.URL, "secret") {
		t.Error("the running plan lost its password")
	}
}

func TestResumingUnderOtherConditionsIsTold(t *testing.T) {
	was := bench.Run{Software: bench.Software{Locbench: "0.1.0", Docker: "20.10"}, Machine: bench.Machine{CPUs: 4}}
	if got := changes(was, was); len(got) > 0 {
		t.Errorf("nothing has changed, but: %q", got)
	}
	is := was
	is.Software.Docker, is.Machine.CPUs = "28.5", 2
	got := changes(was, is)
	if len(got) != 2 || !strings.Contains(got[0], `Docker was "20.10" and is "28.5"`) || !strings.Contains(got[1], "CPUs") {
		t.Errorf("%q", got)
	}
}
