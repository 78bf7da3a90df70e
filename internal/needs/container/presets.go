package container

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// preset is what locbench knows of the services of an image. A profile's own values win. NAME and
// PORT in its texts are those of the need.
type preset struct {
	Names []string // last elements of images, without tag and digest; the first is its name for `like`
	Fills service
	// Unless has variables of which none may be given if the preset's environment is to be used.
	Unless []string
	// Secure is a variable with which its HTTP port speaks TLS, or expects a user.
	Secure []string
	// Folder runs files with one of the Endings when the service starts with an empty volume.
	Folder  string
	Endings []string
	SignIn  signIn
	// Stopped is its exit code after the stop signal.
	Stopped int
	// Apart: it refers clients to its own name, which only containers of the run can resolve.
	Apart bool

	Scheme string // of its URL; "": it has none
	Query  string // of its URL
	// Users has its users, in the order in which they are used: the first that is given.
	Users []account
	// Databases has variables with the name of a database, which is that of the user if OfUser.
	Databases []string
	OfUser    bool
}

// account has the variables of a user and of its password, and the values of those that are absent.
type account struct {
	UserVar, PasswordVar, User, Password string
	Always                               bool // also if both are absent
}

func run(command string) shell { return strings.Fields(command) }

var onSQL = []string{".sql", ".sql.gz", ".sh"}

const slow = 3 * time.Minute

var presets = []preset{
	{
		Names: []string{"postgres", "postgis", "pgvector", "timescaledb", "timescaledb-ha"},
		Fills: service{
			Ports: ports{mainPort: 5432}, ShmSize: 256 << 20,
			Ready: ready{Command: run("pg_isready -q -h NAME -p PORT")}, // over the network: the first server has only a socket
		},
		Folder: "/docker-entrypoint-initdb.d", Endings: onSQL, Scheme: "postgres",
		Users:     []account{{"POSTGRES_USER", "POSTGRES_PASSWORD", "postgres", "", true}},
		Databases: []string{"POSTGRES_DB"}, OfUser: true,
		SignIn: signIn{shell{"psql", "-X", "-q", "-w", "-h", "NAME", "-p", "PORT", "-U", "USER", "-d", "DATABASE", "-c", "SELECT 1"}, "PGPASSWORD"},
	},
	{
		Names: []string{"mysql", "percona", "percona-server"},
		Fills: service{
			Ports: ports{mainPort: 3306},
			Ready: ready{Command: run("mysqladmin ping --silent -h NAME -P PORT"), Timeout: slow},
		},
		Folder: "/docker-entrypoint-initdb.d", Endings: onSQL, Scheme: "mysql",
		Users:     []account{{"MYSQL_USER", "MYSQL_PASSWORD", "", "", false}, {"", "MYSQL_ROOT_PASSWORD", "root", "", true}},
		Databases: []string{"MYSQL_DATABASE"}, SignIn: inMySQL("mysql"),
	},
	{
		Names: []string{"mariadb"},
		Fills: service{
			Ports: ports{mainPort: 3306},
			Ready: ready{Command: run("healthcheck.sh --connect --innodb_initialized"), Timeout: slow},
		},
		Folder: "/docker-entrypoint-initdb.d", Endings: onSQL, Scheme: "mysql",
		Users: []account{
			{"MARIADB_USER", "MARIADB_PASSWORD", "", "", false}, {"MYSQL_USER", "MYSQL_PASSWORD", "", "", false},
			{"", "MARIADB_ROOT_PASSWORD", "root", "", false}, {"", "MYSQL_ROOT_PASSWORD", "root", "", true},
		},
		Databases: []string{"MARIADB_DATABASE", "MYSQL_DATABASE"}, SignIn: inMySQL("mariadb"),
	},
	{
		Names: []string{"mongo"},
		Fills: service{
			Ports: ports{mainPort: 27017},
			Ready: ready{Command: shell{"mongosh", "--host", "NAME", "--port", "PORT", "--quiet", "--eval", "db.runCommand({ping: 1}).ok"}},
		},
		Folder: "/docker-entrypoint-initdb.d", Endings: []string{".js", ".sh"}, Scheme: "mongodb", Query: "authSource=admin",
		Users:     []account{{"MONGO_INITDB_ROOT_USERNAME", "MONGO_INITDB_ROOT_PASSWORD", "", "", false}},
		Databases: []string{"MONGO_INITDB_DATABASE"},
	},
	{
		Names: []string{"redis"},
		Fills: service{
			Ports: ports{mainPort: 6379}, Volumes: []volume{{Target: "/data"}},
			Ready: ready{Command: shell{"sh", "-c", "redis-cli -h NAME -p PORT ping | grep -qE 'PONG|NOAUTH'"}},
		},
		Scheme: "redis",
	},
	{
		Names: []string{"valkey"},
		Fills: service{
			Ports: ports{mainPort: 6379}, Volumes: []volume{{Target: "/data"}},
			Ready: ready{Command: shell{"sh", "-c", "valkey-cli -h NAME -p PORT ping | grep -qE 'PONG|NOAUTH'"}},
		},
		Scheme: "redis",
	},
	{
		Names: []string{"elasticsearch"},
		Fills: service{
			Ports: ports{mainPort: 9200}, Volumes: []volume{{Target: "/usr/share/elasticsearch/data"}},
			Environment: map[string]string{
				"discovery.type": "single-node", "xpack.security.enabled": "false",
				"cluster.routing.allocation.disk.threshold_enabled": "false",
			},
			Ready: ready{HTTP: readyHTTP{Path: "/_cluster/health?wait_for_status=yellow&timeout=1s"}, Timeout: slow},
		},
		Unless: []string{"ELASTIC_PASSWORD", "xpack.security.enabled"}, Secure: []string{"ELASTIC_PASSWORD", "xpack.security.enabled"},
		Stopped: 143, Scheme: "http",
		Users: []account{{"", "ELASTIC_PASSWORD", "elastic", "", false}},
	},
	{
		Names: []string{"opensearch"},
		Fills: service{
			Ports: ports{mainPort: 9200}, Volumes: []volume{{Target: "/usr/share/opensearch/data"}},
			Environment: map[string]string{
				"discovery.type": "single-node", "DISABLE_SECURITY_PLUGIN": "true", "DISABLE_INSTALL_DEMO_CONFIG": "true",
				"cluster.routing.allocation.disk.threshold_enabled": "false",
			},
			Ready: ready{HTTP: readyHTTP{Path: "/_cluster/health?wait_for_status=yellow&timeout=1s"}, Timeout: slow},
		},
		Unless:  []string{"OPENSEARCH_INITIAL_ADMIN_PASSWORD", "plugins.security.disabled", "DISABLE_SECURITY_PLUGIN"},
		Secure:  []string{"OPENSEARCH_INITIAL_ADMIN_PASSWORD"},
		Stopped: 143, Scheme: "http",
		Users: []account{{"", "OPENSEARCH_INITIAL_ADMIN_PASSWORD", "admin", "", false}},
	},
	{
		Names: []string{"rabbitmq"},
		Fills: service{
			Ports: ports{mainPort: 5672, "management": 15672},
			Ready: ready{Command: run("rabbitmq-diagnostics -q check_port_connectivity"), Timeout: slow},
		},
		Scheme: "amqp", Users: []account{{"RABBITMQ_DEFAULT_USER", "RABBITMQ_DEFAULT_PASS", "guest", "guest", true}},
		Databases: []string{"RABBITMQ_DEFAULT_VHOST"},
	},
	kafka("kafka", "/opt/kafka/bin/kafka-broker-api-versions.sh"),
	kafka("cp-kafka", "kafka-broker-api-versions"),
	{
		Names: []string{"minio"},
		Fills: service{
			Command: []string{"server", "/data", "--console-address", ":9001"}, Ports: ports{mainPort: 9000, "console": 9001},
			Volumes: []volume{{Target: "/data"}}, Ready: ready{HTTP: readyHTTP{Path: "/minio/health/ready"}},
		},
		Scheme: "http", Users: []account{{"MINIO_ROOT_USER", "MINIO_ROOT_PASSWORD", "minioadmin", "minioadmin", true}},
	},
	{
		Names: []string{"keycloak"},
		Fills: service{
			Command: []string{"start-dev", "--import-realm"}, Ports: ports{mainPort: 8080, "management": 9000},
			Environment: map[string]string{"KC_HEALTH_ENABLED": "true"}, Volumes: []volume{{Target: "/opt/keycloak/data"}},
			Ready: ready{HTTP: readyHTTP{Port: 9000, Path: "/health/ready"}, Timeout: slow},
		},
		Folder: "/opt/keycloak/data/import", Endings: []string{".json"}, Stopped: 143, Scheme: "http",
		Users: []account{
			{"KC_BOOTSTRAP_ADMIN_USERNAME", "KC_BOOTSTRAP_ADMIN_PASSWORD", "", "", false},
			{"KEYCLOAK_ADMIN", "KEYCLOAK_ADMIN_PASSWORD", "", "", false},
		},
	},
}

func inMySQL(client string) signIn {
	return signIn{shell{client, "-h", "NAME", "-P", "PORT", "-u", "USER", "-e", "SELECT 1", "DATABASE"}, "MYSQL_PWD"}
}

// kafka returns the preset of one broker that is also its controller.
func kafka(image, check string) preset {
	const data = "/var/lib/kafka/data"
	return preset{
		Names: []string{image},
		Fills: service{
			Ports: ports{mainPort: 9092}, Volumes: []volume{{Target: data}},
			Environment: map[string]string{
				"CLUSTER_ID": "bG9jYmVuY2gtLS0tLS0tLQ", "KAFKA_NODE_ID": "1", "KAFKA_PROCESS_ROLES": "broker,controller",
				"KAFKA_LISTENERS":                                "PLAINTEXT://:PORT,CONTROLLER://:9093",
				"KAFKA_ADVERTISED_LISTENERS":                     "PLAINTEXT://NAME:PORT",
				"KAFKA_CONTROLLER_LISTENER_NAMES":                "CONTROLLER",
				"KAFKA_LISTENER_SECURITY_PROTOCOL_MAP":           "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
				"KAFKA_CONTROLLER_QUORUM_VOTERS":                 "1@localhost:9093",
				"KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR":         "1",
				"KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR": "1",
				"KAFKA_TRANSACTION_STATE_LOG_MIN_ISR":            "1",
				"KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS":         "0",
				"KAFKA_LOG_DIRS":                                 data,
			},
			Ready: ready{Command: shell{check, "--bootstrap-server", "NAME:PORT"}, Timeout: slow},
		},
		Unless:  []string{"KAFKA_LISTENERS", "KAFKA_ADVERTISED_LISTENERS", "KAFKA_PROCESS_ROLES", "KAFKA_ZOOKEEPER_CONNECT"},
		Stopped: 143, Apart: true,
	}
}

// presetNames returns the values of `like`.
func presetNames() (all []string) {
	for _, p := range presets {
		all = append(all, p.Names[0])
	}
	return all
}

// presetOf returns the preset of a service: that of `like`, else that of its image.
func presetOf(s service) (p preset, ok bool) {
	name := cmp.Or(s.Like, imageName(cmp.Or(s.Image, s.Base)))
	i := slices.IndexFunc(presets, func(p preset) bool { return slices.Contains(p.Names, name) })
	if name == "" || i < 0 {
		return p, false
	}
	return presets[i], true
}

// imageName returns the last element of an image, without tag and digest.
func imageName(image string) string {
	image, _, _ = strings.Cut(image, "@")
	name, _, _ := strings.Cut(path.Base(image), ":")
	if image == "" {
		return ""
	}
	return name
}

// named returns what p says of a service with a name and a port.
func (p preset) named(name string, port int) service {
	r := named(name, port)
	s := p.Fills
	s.Ready.Command = replaced(r, s.Ready.Command)
	s.Environment = maps.Clone(p.Fills.Environment)
	for name, value := range s.Environment {
		s.Environment[name] = r.Replace(value)
	}
	return s
}

// named replaces NAME and PORT.
func named(name string, port int) *strings.Replacer {
	return strings.NewReplacer("NAME", name, "PORT", strconv.Itoa(port))
}

func replaced(r *strings.Replacer, words shell) (all shell) {
	for _, word := range words {
		all = append(all, r.Replace(word))
	}
	return all
}

// has reports whether one of the variables is given.
func has(e map[string]string, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { _, ok := e[name]; return ok })
}

// environment returns the environment of s with what the preset adds, unless s has a file of
// variables, which may say something else.
func (p preset) environment(of, s service) map[string]string {
	if len(of.Environment) == 0 || s.EnvFile != nil || has(s.Environment, p.Unless) {
		return s.Environment
	}
	all := of.Environment
	maps.Copy(all, s.Environment)
	return all
}

// secured reports whether an HTTP port speaks TLS or expects a user.
func (p preset) secured(e map[string]string) bool {
	return has(e, p.Secure) && e["xpack.security.enabled"] != "false"
}

// runs reports whether the image runs a file of a seed when it starts with an empty volume.
func (p preset) runs(file string) bool {
	return p.Folder != "" && slices.ContainsFunc(p.Endings, func(ending string) bool { return strings.HasSuffix(file, ending) })
}
