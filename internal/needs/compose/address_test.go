package compose

import (
	"strings"
	"testing"

	"github.com/locbench/locbench/internal/bench"
	"github.com/locbench/locbench/internal/testenv"
)

// TestAddress: user, password and database come from the environment, also from files; URLs are
// escaped, and containers use the need's name.
func TestAddress(t *testing.T) {
	for name, c := range map[string]struct{ yaml, url, login string }{
		"postgres": {"image: postgres\nenvironment: {POSTGRES_PASSWORD: \"${PW}\"}",
			"postgres://postgres:p%40y%2F%20100%25%231@db:5432/postgres", "postgres p@y/ 100%#1 postgres"},
		"database": {"image: postgres\nenvironment: {POSTGRES_PASSWORD: x, POSTGRES_USER: app, POSTGRES_DB: shop/1}",
			"postgres://app:x@db:5432/shop%2F1", "app x shop/1"},
		"trust": {"image: postgres\nenvironment: {POSTGRES_HOST_AUTH_METHOD: trust}\nports: 6000", "postgres://postgres@db:6000/postgres",
			"postgres  postgres"},
		"file": {"image: postgres\nenvironment: {POSTGRES_PASSWORD_FILE: /run/secrets/pw}\nvolumes: [./pw.txt:/run/secrets/pw:ro]",
			"postgres://postgres:from%20file@db:5432/postgres", "postgres from file postgres"},
		"another": {"image: postgres\nenvironment: {POSTGRES_PASSWORD_FILE: /run/secrets/pw2}\nvolumes: [./pw.txt:/run/secrets/pw:ro]",
			"postgres://postgres@db:5432/postgres", "postgres  postgres"},
		"mysql":   {"image: mysql\nenvironment: {MYSQL_ROOT_PASSWORD: r, MYSQL_DATABASE: d}", "mysql://root:r@db:3306/d", "root r d"},
		"user":    {"image: mysql\nenvironment: {MYSQL_ROOT_PASSWORD: r, MYSQL_USER: u, MYSQL_PASSWORD: p}", "mysql://u:p@db:3306", "u p "},
		"mariadb": {"image: mariadb\nenvironment: {MYSQL_USER: u, MARIADB_ROOT_PASSWORD: r, MYSQL_PASSWORD: p}", "mysql://u:p@db:3306", "u p "},
		"root":    {"image: mariadb\nenvironment: {MARIADB_ROOT_PASSWORD: r, MARIADB_DATABASE: d}", "mysql://root:r@db:3306/d", "root r d"},
		"mongo":   {"image: mongo", "mongodb://db:27017", "  "},
		"its user": {"image: mongo\nenvironment: {MONGO_INITDB_ROOT_USERNAME: u, MONGO_INITDB_ROOT_PASSWORD: p, MONGO_INITDB_DATABASE: d}",
			"mongodb://u:p@db:27017/d?authSource=admin", "u p d"},
		"redis": {"image: redis\ncommand: [redis-server, --requirepass, \"${PW}\"]", "redis://:p%40y%2F%20100%25%231@db:6379",
			" p@y/ 100%#1 "},
		"elasticsearch": {"image: elasticsearch", "http://db:9200", "  "},
		"secure":        {"image: elasticsearch\nenvironment: {ELASTIC_PASSWORD: x}", "https://elastic:x@db:9200", "elastic x "},
		"rabbitmq":      {"image: rabbitmq\nenvironment: {RABBITMQ_DEFAULT_VHOST: v}", "amqp://guest:guest@db:5672/v", "guest guest v"},
		"kafka":         {"image: kafka", "", "  "},
		"minio":         {"image: minio", "http://minioadmin:minioadmin@db:9000", "minioadmin minioadmin "},
		"keycloak":      {"image: keycloak\nenvironment: {KEYCLOAK_ADMIN: a, KEYCLOAK_ADMIN_PASSWORD: b}", "http://a:b@db:8080", "a b "},
		"unknown":       {"image: memcached\nports: 11211", "", "  "},
		"over HTTP":     {"image: x\nports: 80\nready: {http: {path: /}}", "http://db:80", "  "},
		"env_file": {"image: postgres\nenv_file: vars.env\nenvironment: {POSTGRES_PASSWORD: x}",
			"postgres://postgres:x@db:5432/postgres", "postgres x postgres"},
	} {
		t.Run(name, func(t *testing.T) {
			n, _, err := parsed(t, c.yaml)
			testenv.OK(t, err)
			Complete(&n)
			f := &Filler{Getenv: func(name string) string { return known[name] }, Hide: func(...string) {}}
			s, err := specOf(n).Filled(f)
			testenv.OK(t, err)
			env := testenv.Must(s.Environ(f))(t)
			a := s.Address(env, "db", s.Ports[MainPort], s.Ports)
			testenv.Equal(t, a.URL, c.url)
			testenv.Equal(t, strings.Join([]string{a.User, a.Password, a.Database}, " "), c.login)
			testenv.Equal(t, a.Host+" "+a.Port, "db "+a.Ports[MainPort])
			kind := bench.DatabaseOf(strings.Split(c.url, ":")[0])
			if strings.HasPrefix(c.yaml, "image: mariadb") {
				kind = bench.MariaDB
			}
			testenv.Equal(t, a.Kind, kind)
		})
	}
}
