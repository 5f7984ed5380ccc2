# make help lists what can be made here.

VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
LDFLAGS   = -s -w -X github.com/execagent/execagent/internal/version.version=$(VERSION)
FUZZTIME ?= 20s
# The packages that build everywhere; the agent is for Linux.
PORTABLE  = ./chord/... ./limits/... ./transport/... ./client/... ./cmd/execctl/...

# The race detector needs a C compiler.
CC_FOUND := $(shell command -v $${CC:-gcc} || command -v cc || command -v clang)
RACE      = $(if $(CC_FOUND),-race)

.PHONY: help build test lint fmt fuzz bench microbench clean

help: ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

build: ## static binaries in bin/
	CGO_ENABLED=0 go build -trimpath -ldflags '$(LDFLAGS)' -o bin/ ./cmd/...

test: lint ## everything that has to hold: lint, unit and end-to-end tests
	@$(if $(RACE),,echo "no C compiler found: testing without the race detector")
	go test $(RACE) -timeout 9m ./...
	go test -run JSONRPC ./client # its full 100 MB, which the race detector makes slow

lint: ## gofmt, vet (Linux, macOS, Windows), staticcheck
	@test -z "$$(gofmt -l .)" || { echo "gofmt would change:"; gofmt -l .; exit 1; }
	go vet ./...
	GOOS=linux GOARCH=arm64 go vet ./...
	GOOS=darwin go vet $(PORTABLE)
	GOOS=windows go vet $(PORTABLE)
	go tool staticcheck ./...

fmt: ## format the code
	gofmt -w .

fuzz: ## each fuzz target for FUZZTIME
	test/fuzz.sh $(FUZZTIME)

bench: ## the comparison recorded in test/bench/RESULTS.md; QUICK=1 prints a small one
	go run ./test/bench $(if $(QUICK),--quick,--codex)

microbench: ## package benchmarks, and 256 MiB end to end
	go test -run '^$$' -bench . -benchmem ./limits ./execagent ./chord ./spill ./transport
	EXECAGENT_TEST_MIB=256 go test -count=1 -run TestVolume -timeout 30m ./test

clean: ## remove what was built
	rm -rf bin test/bench/data
