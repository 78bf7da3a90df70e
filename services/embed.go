// Package services embeds the folders of the bundled contenders, so the binary can build and start
// them without other files. Package contender reads the manifests.
package services

import "embed"

//go:generate go test . -run ModulesArePacked -update

// Modules has the folders of the contenders that are Go modules, packed as text, since go:embed
// leaves out folders with a go.mod. go generate makes it from the folders; a test compares.
//
//go:embed modules.txtar
var Modules []byte

// FS has the folders of all other contenders, and the verified states of all. The list names only
// sources in folders that a build writes into, so build output never gets into the binary.
//
//go:embed verified.json
//go:embed all:go-nethttp
//go:embed dotnet/.dockerignore dotnet/Dockerfile dotnet/README.md dotnet/locations.csproj dotnet/service.yaml dotnet/src
//go:embed java-kumuluz/.dockerignore java-kumuluz/Dockerfile java-kumuluz/README.md java-kumuluz/pom.xml java-kumuluz/service.yaml java-kumuluz/src
//go:embed java-micronaut/.dockerignore java-micronaut/Dockerfile java-micronaut/Dockerfile.native java-micronaut/README.md java-micronaut/pom.xml java-micronaut/service.yaml java-micronaut/src
//go:embed java-spring-mvc/.dockerignore java-spring-mvc/Dockerfile java-spring-mvc/Dockerfile.native java-spring-mvc/README.md java-spring-mvc/pom.xml java-spring-mvc/service.yaml java-spring-mvc/src
//go:embed java-helidon/.dockerignore java-helidon/Dockerfile java-helidon/Dockerfile.native java-helidon/README.md java-helidon/pom.xml java-helidon/service.yaml java-helidon/src
//go:embed java-quarkus/.dockerignore java-quarkus/Dockerfile java-quarkus/Dockerfile.native java-quarkus/README.md java-quarkus/pom.xml java-quarkus/service.yaml java-quarkus/src
//go:embed java-vertx/.dockerignore java-vertx/Dockerfile java-vertx/Dockerfile.native java-vertx/README.md java-vertx/pom.xml java-vertx/service.yaml java-vertx/src
//go:embed java-spring-webflux/.dockerignore java-spring-webflux/Dockerfile java-spring-webflux/Dockerfile.native java-spring-webflux/README.md java-spring-webflux/pom.xml java-spring-webflux/service.yaml java-spring-webflux/src
//go:embed kt-http4k/.dockerignore kt-http4k/Dockerfile kt-http4k/README.md kt-http4k/pom.xml kt-http4k/service.yaml kt-http4k/src
//go:embed kt-ktor/.dockerignore kt-ktor/Dockerfile kt-ktor/Dockerfile.native kt-ktor/README.md kt-ktor/pom.xml kt-ktor/service.yaml kt-ktor/src
//go:embed kt-vertx/.dockerignore kt-vertx/Dockerfile kt-vertx/README.md kt-vertx/pom.xml kt-vertx/service.yaml kt-vertx/src
//go:embed kt-spring-webflux/.dockerignore kt-spring-webflux/Dockerfile kt-spring-webflux/README.md kt-spring-webflux/pom.xml kt-spring-webflux/service.yaml kt-spring-webflux/src
//go:embed rs-actix/.dockerignore rs-actix/Cargo.lock rs-actix/Cargo.toml rs-actix/Dockerfile rs-actix/README.md rs-actix/service.yaml rs-actix/src
//go:embed rs-axum/.dockerignore rs-axum/Cargo.lock rs-axum/Cargo.toml rs-axum/Dockerfile rs-axum/README.md rs-axum/service.yaml rs-axum/src
//go:embed rs-rocket/.dockerignore rs-rocket/Cargo.lock rs-rocket/Cargo.toml rs-rocket/Dockerfile rs-rocket/README.md rs-rocket/service.yaml rs-rocket/src
//go:embed rs-warp/.dockerignore rs-warp/Cargo.lock rs-warp/Cargo.toml rs-warp/Dockerfile rs-warp/README.md rs-warp/service.yaml rs-warp/src
//go:embed node-express/.dockerignore node-express/Dockerfile node-express/README.md node-express/package-lock.json node-express/package.json node-express/service.yaml node-express/src
//go:embed node-nest/.dockerignore node-nest/Dockerfile node-nest/README.md node-nest/package-lock.json node-nest/package.json node-nest/service.yaml node-nest/src node-nest/tsconfig.json
var FS embed.FS
