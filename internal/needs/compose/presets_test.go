package compose

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// TestPresets: what each known image gets, as 'profiles show' prints it.
func TestPresets(t *testing.T) {
	var text strings.Builder
	for _, image := range []string{
		"postgres:17", "registry.example.com:5000/team/postgis@sha256:abc", "mysql:8.4", "mariadb:11", "mongo:8", "redis:7-alpine",
		"valkey/valkey:8", "docker.elastic.co/elasticsearch/elasticsearch:8.15.0", "opensearchproject/opensearch:2", "rabbitmq:4-management",
		"apache/kafka:3.9.0", "confluentinc/cp-kafka:7.7.0", "minio/minio", "quay.io/keycloak/keycloak:26.0", "memcached:1",
	} {
		n, _, err := parsed(t, "image: "+image)
		testenv.OK(t, err)
		Complete(&n)
		text.WriteString("# " + image + "\n" + formOf(n, "\n") + "\n\n")
	}
	testenv.Golden(t, "testdata/presets.txt", text.String())
}

// formOf returns the keys and values of a need, without its image.
func formOf(n bench.NeedSpec, between string) string {
	var lines []string
	for key, text := range leaves(n) {
		if key != "image" {
			lines = append(lines, key+": "+text)
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, between)
}

// leaves returns the values of a service by their keys, such as "limits.memory".
func leaves(n bench.NeedSpec) map[string]string {
	all := map[string]string{}
	var walk func(prefix string, of map[string]any)
	walk = func(prefix string, of map[string]any) {
		for key, value := range of {
			if inner, ok := value.(map[string]any); ok {
				walk(prefix+key+".", inner)
			} else if text, ok := value.(string); ok {
				all[prefix+key] = text
			} else {
				raw, _ := json.Marshal(value) // it was JSON
				all[prefix+key] = string(raw)
			}
		}
	}
	var of map[string]any
	_ = json.Unmarshal(n.Of.JSON(), &of) // a need without its own keys has none
	walk("", of)
	return all
}

// TestPreset_FillsWhatIsLeftOut: a profile's own values win, also over those that go with them.
func TestPreset_FillsWhatIsLeftOut(t *testing.T) {
	for name, c := range map[string]struct{ yaml, want string }{
		"like": {"image: pg:3\nlike: postgres",
			`like: postgres, ports.main: 5432, ready.command: ["pg_isready","-q","-h","db","-p","5432"], shm_size: 268435456`},
		"port": {"image: postgres\nports: 6000\nshm_size: 64M",
			`ports.main: 6000, ready.command: ["pg_isready","-q","-h","db","-p","6000"], shm_size: 67108864`},
		"ready": {"image: postgres\nready: {tcp: 1}\nshm_size: 64M",
			`ports.main: 5432, ready.tcp: 1, shm_size: 67108864`},
		"timeout": {"image: redis\nready: {timeout: 5s}\ntmpfs: /data",
			`ports.main: 6379, ready.command: ["sh","-c","redis-cli -h db -p 6379 ping | grep -qE 'PONG|NOAUTH'"], ready.timeout_ns: 5000000000, tmpfs: ["/data"]`},
		"command": {"image: minio\ncommand: server /x\nvolumes: [/data]",
			`command: ["server","/x"], ports.console: 9001, ports.main: 9000, ready.http.path: /minio/health/ready, volumes: [{"target":"/data"}]`},
		"entrypoint": {"image: minio\nentrypoint: [x]",
			`entrypoint: ["x"], ports.console: 9001, ports.main: 9000, ready.http.path: /minio/health/ready, volumes: [{"target":"/data"}]`},
		"secure": {"image: elasticsearch\nenvironment: {ELASTIC_PASSWORD: x}",
			`environment.ELASTIC_PASSWORD: x, ports.main: 9200, ready.tcp: 9200, ready.timeout_ns: 180000000000, volumes: [{"target":"/usr/share/elasticsearch/data"}]`},
		"listeners": {"image: cp-kafka\nenvironment: {KAFKA_LISTENERS: x}",
			`environment.KAFKA_LISTENERS: x, ports.main: 9092, ready.command: ["kafka-broker-api-versions","--bootstrap-server","db:9092"], ready.timeout_ns: 180000000000, volumes: [{"target":"/var/lib/kafka/data"}]`},
		"file": {"image: keycloak\nenv_file: vars.env",
			`command: ["start-dev","--import-realm"], env_file: ["DIR/vars.env"], ports.main: 8080, ports.management: 9000, ready.http.path: /health/ready, ready.http.port: 9000, ready.timeout_ns: 180000000000, volumes: [{"target":"/opt/keycloak/data"}]`},
		"unknown": {"image: memcached", ""},
		"external": {"external: h:1\nlike: postgres",
			`like: postgres`},
	} {
		t.Run(name, func(t *testing.T) {
			n, dir, err := parsed(t, c.yaml)
			testenv.OK(t, err)
			Complete(&n)
			testenv.Equal(t, strings.ReplaceAll(formOf(n, ", "), dir, "DIR"), c.want)
		})
	}
}
