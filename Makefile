# Every target works on a fresh machine with Go and a C compiler. The tag gives SQLite its full-text indexes; a build
# without it stops with a sentence that says so.
TAGS    := sqlite_fts5
VERSION := $(shell sed -n 's/^## \([0-9][^ ]*\).*/\1/p' CHANGELOG.md | head -1)

export CGO_ENABLED := 1
export GOFLAGS := $(GOFLAGS) -tags=$(TAGS)

.PHONY: build man demo test npm-test example-test check npm fuzz bench performance bench-compare update picture clean

build:
	go build -trimpath -ldflags '-s -w -X session-sidecar/internal/version.Version=$(VERSION)' -o bin/ ./cmd/sidecar

# The manual pages, from what --help says, in build/man.
man:
	@mkdir -p build/man
	go run -tags=$(TAGS),man -ldflags '-X session-sidecar/internal/version.Version=$(VERSION)' ./cmd/sidecar man build/man

demo: build
	@./bin/sidecar demo

# All tests, under the race detector, then every fuzz target for a while. A skip that fixtures/skips.tsv does not
# name fails the run. Nothing comes from the cache, which does not see the program that the tests build and start.
test: check
	@mkdir -p build
	go tool gotestsum --format pkgname --jsonfile build/test.json -- -race -count=1 -timeout 15m ./...
	go run ./internal/skipcheck fixtures/skips.tsv build/test.json
	.ci/fuzz $(FUZZTIME)
	$(MAKE) npm-test

# The client for desktop apps: its types, and its tests against the program as it is now. A skip that npm/test/skips.json does not
# name fails the run. No script of any package runs.
npm-test: npm/node_modules/.package-lock.json
	@mkdir -p build
	go build -buildvcs=false -o build/ ./cmd/sidecar
	cd npm && npm run --silent build && npm run --silent check && npm test --silent
	$(MAKE) example-test

# The app that shows how to use the client: its types, and its tests in a real Chromium, over the program and the client as npm-test
# has built them. Its pictures lie below build/example.
EXAMPLE := npm/examples/electron
example-test: $(EXAMPLE)/node_modules/.package-lock.json
	cd $(EXAMPLE) && npm run --silent check && npm test --silent

npm/node_modules/.package-lock.json: npm/package-lock.json npm/.npmrc
	cd npm && npm ci --ignore-scripts
	@touch $@

$(EXAMPLE)/node_modules/.package-lock.json: $(EXAMPLE)/package-lock.json $(EXAMPLE)/.npmrc
	cd $(EXAMPLE) && npm ci --ignore-scripts
	@touch $@

# Every fuzz target for a while: ten seconds each, or FUZZTIME. What they find lies below build/fuzz.
FUZZTIME := 10s
fuzz:
	.ci/fuzz $(FUZZTIME)

# What reads the code without running it, for this system and for the two that we cannot run here.
check:
	@unformatted=$$(go tool gofumpt -l $$(git ls-files --cached --others --exclude-standard '*.go')); \
	  test -z "$$unformatted" || { echo "not formatted as gofumpt does: $$unformatted"; exit 1; }
	go vet ./...
	go vet -tags $(TAGS),faultpoints ./...
	go tool staticcheck ./...
	go tool staticcheck -tags $(TAGS),faultpoints ./internal/faultpoint
	go vet -tags $(TAGS),man ./cmd/sidecar
	go vet -tags $(TAGS),platforms ./internal/platforms
	go tool staticcheck -tags $(TAGS),platforms ./internal/platforms
	CGO_ENABLED=0 GOOS=windows go vet ./...
	CGO_ENABLED=0 GOOS=darwin go vet ./...
	go tool actionlint -shellcheck= -pyflakes=

# The program of this machine as an app gets it: what installed.mjs has installed from its package.
INSTALLED = $(CURDIR)/build/npm/project/node_modules/session-sidecar-$(shell node -p 'process.platform + "-" + process.arch')/bin/sidecar
# These put a library of their own before the C library, and a static program has none.
PRELOADED := ^(TestReadsOfReceiptsOutlastAMoment|TestReceiptsBesideAWritingAgentOnABadDisk)$$

# Builds the program for every platform that Debian's compilers know, runs what they made, packs the npm packages, looks at them,
# and runs the client's tests and those of the program from what is installed. docs/reference/platforms.md says what it needs.
npm: npm/node_modules/.package-lock.json
	npm run --silent build --prefix npm
	node npm/scripts/build.mjs
	go tool gotestsum --format testname --jsonfile build/platforms.json -- -count=1 -timeout 20m -tags=$(TAGS),platforms ./internal/platforms
	go run ./internal/skipcheck fixtures/skips.tsv build/platforms.json
	node npm/scripts/pack.mjs
	node npm/scripts/check.mjs
	node npm/scripts/installed.mjs
	SIDECARTEST_PROGRAM='$(INSTALLED)' go tool gotestsum --format pkgname --jsonfile build/installed.json -- -count=1 -timeout 15m -skip '$(PRELOADED)' ./fixtures ./internal/properties ./cmd/sidecar
	go run ./internal/skipcheck fixtures/skips.tsv build/installed.json

# Rewrites all that is made from the program as it is now: what the stories expect, what documents show, docs/protocol.md, the list of
# what the wire offers, the client's types. Read the difference before you keep it.
update: npm/node_modules/.package-lock.json
	go build -buildvcs=false -o build/ ./cmd/sidecar
	cd npm && npm run --silent generate
	go test ./fixtures -update

# Draws the picture of the README anew, from what the demo shows now.
picture: build
	.ci/picture

# Measures a delete in stores of N sessions, beside the least that it could be; docs/reference/performance.md says how to read it.
# ARGS takes what `go run ./bench -h` lists, what else can be measured too.
N := 100000
bench:
	@go run ./bench -sessions $(N) $(ARGS)

# Measures everything at every size and writes docs/reference/performance.md anew, between its marks, and the plot. It takes half an hour.
SIZES := 1000,10000,100000,1000000
performance:
	go run ./bench -modes all -sessions $(SIZES) -report docs/reference/performance.md $(ARGS)

# Compares two commits: make bench-compare OLD=<commit> NEW=<commit>
bench-compare:
	.ci/bench-compare "$(OLD)" "$(NEW)" -sessions $(N) $(ARGS)

clean:
	rm -rf bin build npm/dist npm/node_modules $(EXAMPLE)/dist $(EXAMPLE)/node_modules
