# make run and make test need Go and make only; everything else is set up here.
# Tests that want a program which is not there say so and are skipped; make deps
# installs it where apt-get does.

GO      ?= go
GOTEST  ?= $(GO) test
SUDO    ?= $(if $(filter 0,$(shell id -u)),,sudo)
BIN     := bin
RUNFLAGS ?=
PEERSFLAGS ?=
STUDYFLAGS ?=
SUITEFLAGS ?=
DISTFLAGS ?=
DISTSKIP ?= --skip=publish

.PHONY: all build portable guests deps run run-each test test-all readme test-long vectors emulated race mutate lint advisories notices proto proto-check cross fmt bench bench-quick benchstat selfcheck scaling studies examples peers peers-prove peers-check site dist release-check clean

all: build

build:
	$(GO) build -o $(BIN)/zkbench ./cmd/zkbench

# The same program without assembly, which studies compare with it.
portable:
	$(GO) build -tags purego -o $(BIN)/zkbench-purego ./cmd/zkbench

# The programs of workload guest beside this one, which builds them itself where it has its sources.
guests: build
	$(GO) run ./internal/workload/guest/build $(BIN)/zkbench-guests

# PostgreSQL's server programs, PgBouncer, Chromium, QEMU's emulator of arm64, compilers of C and C++ for RISC-V, Python,
# SoftHSM, OpenSSH, and a C compiler for cgo, if they are missing.
# Tests start servers of their own: the one that apt-get starts for the machine is stopped.
deps:
	@want=; \
	{ command -v initdb && command -v postgres || ls /usr/lib/postgresql/*/bin/postgres; } >/dev/null 2>&1 || want="$$want postgresql"; \
	{ command -v pgbouncer || ls /usr/sbin/pgbouncer; } >/dev/null 2>&1 || want="$$want pgbouncer"; \
	{ command -v chromium || command -v chromium-browser || command -v google-chrome; } >/dev/null 2>&1 || want="$$want chromium"; \
	command -v qemu-aarch64 >/dev/null 2>&1 || want="$$want qemu-user"; \
	command -v riscv64-linux-gnu-gcc >/dev/null 2>&1 || want="$$want gcc-riscv64-linux-gnu"; \
	command -v riscv64-linux-gnu-g++ >/dev/null 2>&1 || want="$$want g++-riscv64-linux-gnu"; \
	command -v python3 >/dev/null 2>&1 || want="$$want python3"; \
	command -v softhsm2-util >/dev/null 2>&1 || want="$$want softhsm2"; \
	command -v curl >/dev/null 2>&1 || want="$$want curl"; \
	command -v cc >/dev/null 2>&1 || want="$$want gcc libc6-dev"; \
	command -v ssh >/dev/null 2>&1 || want="$$want openssh-client"; \
	{ command -v sshd || ls /usr/sbin/sshd; } >/dev/null 2>&1 || want="$$want openssh-server"; \
	if [ -z "$$want" ]; then :; \
	elif command -v apt-get >/dev/null; then \
	  $(SUDO) apt-get update && $(SUDO) apt-get install -y --no-install-recommends $$want || exit; \
	  case "$$want" in *pgbouncer*) $(SUDO) systemctl disable --now pgbouncer 2>/dev/null || :;; esac; \
	  case "$$want" in *openssh-server*) $(SUDO) systemctl disable --now ssh.service ssh.socket 2>/dev/null || :;; esac; \
	else echo "make deps: no apt-get here: install$$want, and have PostgreSQL's initdb and postgres, pgbouncer, chromium, qemu-aarch64, riscv64-linux-gnu-gcc, riscv64-linux-gnu-g++, python3, softhsm2-util, curl, cc, ssh and sshd in the PATH"; exit 1; fi

# The main job: seeded 2-in/2-out transfers, proved and verified, every result
# checked, on this machine's cores.
run: build
	$(BIN)/zkbench run $(RUNFLAGS)

# One small case of each workload, as a user runs it: libraries know when they run in a test.
run-each: guests
	all=$$($(BIN)/zkbench list | awk '/^  /{print $$1}'); test -n "$$all" || { echo "make run-each: no workloads"; exit 1; }; \
	for w in $$all; do \
	  $(BIN)/zkbench run $$w --duration 50ms --json $(BIN)/run-each.jsonl >$(BIN)/run-each.txt || { cat $(BIN)/run-each.txt; exit 1; }; \
	  if grep -E '"name":"(any-result|input-changed)"' $(BIN)/run-each.jsonl; then exit 1; fi; \
	done

# The short form of the tests, which leaves out full circuits, PostgreSQL, Chromium, QEMU,
# compilers of C and C++, OpenSSH, most damage and kills, and suites of processes (internal/testing/testsize).
test:
	$(GOTEST) -short ./...
	$(GO) test -short ./executor -cpu=1,2

# Everything but the hours of test-long. Keys in tokens need cgo, so a tag of their own: SoftHSM has the tokens.
TOKENS = -tags pkcs11 ./token/identity/pkcs11 ./internal/cli/keyfile
test-all:
	$(GOTEST) ./...
	$(GO) test ./executor -cpu=1,2
	$(GO) test $(TOKENS)

# The commands of README.md and docs/, the long ones in a short form: minutes, most of them to build. TestExamples lists
# those of docs/ that are not run, and why.
readme:
	ZKBENCH_README=1 $(GO) test ./internal/cli/zkbench -run '^Test(Readme|Examples)$$' -v

# The same tests with the long forms, 10,000 kills of a ledger, 10,000 histories of ledgers with their validators and
# followers (TestHistories), ten minutes of everything at once under kills (TestMix), half an hour of the same with served
# processes (TestServeMix; ZKBENCH_MIX_TIME=3m shortens both), 32 spenders on a PostgreSQL that crashes (TestSpenders), more
# random cases, a minute of fuzzing per target, the vectors and examples on other processors, and the programs of all
# platforms.
test-long: emulated
	ZKBENCH_LONG=1 ZKBENCH_KILLS=10000 $(GO) test ./... -timeout 150m
	$(GO) test $$($(GO) list -f '{{range .TestImports}}{{.}} {{end}}{{range .XTestImports}}{{.}} {{end}}{{.ImportPath}}' ./... | sed -n 's/.*pgregory.net\/rapid.* //p') -rapid.checks=1000 -timeout 90m
	$(GO) test ./token/service -run '^TestHistories$$' -rapid.checks=10000 -timeout 90m
	./tools/fuzz.sh 60s
	cd tools && ZKBENCH_LONG=1 $(GO) test -count=1 -timeout 90m ./release

# The vectors and examples of public packages on emulated processors: arm64, and s390x, whose bytes have the other order.
PUBLIC = $$($(GO) list ./... | grep -vE '/internal/|/bench|/cmd/|/riscv/(c|guest)')
emulated:
	GOOS=linux GOARCH=arm64 CGO_ENABLED=0 $(GO) test -short -exec qemu-aarch64 -run 'Vector|^Example' $(PUBLIC)
	GOOS=linux GOARCH=s390x CGO_ENABLED=0 $(GO) test -short -exec qemu-s390x -run 'Vector|^Example' $(PUBLIC)

# The vectors in testdata that are computed here, made anew, and what has changed in them.
vectors:
	ZKBENCH_UPDATE=1 $(GO) test ./rangeproof/bulletproof ./rangeproof/csp ./token ./token/identity ./token/policy ./token/validator -count=1 -run '^Test(Vectors?|Sizes|ProofSizes)$$'
	git diff --exit-code --stat -p testdata

# The short form under the race detector, and PostgreSQL with several callers. The ledger's
# tests that are left out run on one goroutine. The runner's tests get one processor: the
# timers of a synctest bubble share one context of the detector's (go1.26.8, unlockAndRun in
# runtime/time.go), which two threads that fire timers corrupt; what happens before what,
# and so what it reports, does not hang on the number of processors.
race:
	$(GO) test -race -short -cpu 1 ./internal/runner -rapid.checks=20
	$(GO) test -race -short ./executor/... ./internal/runner/resources/... ./internal/runner/stage/... ./token/identity/... ./rangeproof/... ./token/action
	$(GO) test -race -run 'Run|Serve|Child|Procs' ./internal/measure
	$(GO) test -race -run 'Host|Lost|Copy|Serve|Silence' ./internal/measure/hosts ./internal/measure/suite
	$(GO) test -race -run 'Lean|Concurrent' ./stark
	$(GO) test -race -run '^TestGo$$' ./riscv
	$(GO) test -race -run '^TestSideBySide$$' -skip 'TestSideBySide/^(Keccak|Pairing|Guest)$$' ./internal/cli/zkbench
	GORACE=atexit_sleep_ms=0 $(GO) test -race -run 'Resident$$|GivenUp|Deadlines|Commands' ./internal/workload/prover # which runs itself as a prover, many times
	$(GO) test -race -short -skip 'Corrupt|Truncate|NamesThePlace|Model|Refused|Constraints' ./token/ledger/...
	$(GO) test -race -run 'Contract/(concurrent|verified)' ./token/ledger/postgres
	$(GO) test -race -run 'Queue|Concurrent|Race' ./token/validator ./token/service
	$(GO) test -race -tags pkcs11 ./token/identity/pkcs11

# What a proof's safety hangs on, changed a line at a time: the tests that see it, and what none
# sees (tools/mutate). Some 90 minutes; MUTATEFLAGS=-resume goes on where it was stopped.
mutate:
	$(GO) run -C tools ./mutate $(MUTATEFLAGS)

$(BIN)/tools: tools/go.mod tools/go.sum
	mkdir -p $(BIN)/tools
	cd tools && $(GO) build -o ../$(BIN)/tools tool
	touch $(BIN)/tools

# Go files that no generator writes.
WRITTEN = $$(git ls-files '*.go' ':!:*.pb.go' ':!:*.connect.go')

fmt: $(BIN)/tools
	$(BIN)/tools/gofumpt -w $(WRITTEN)

lint: $(BIN)/tools
	@out=$$($(BIN)/tools/gofumpt -l $(WRITTEN)); \
	  if [ -n "$$out" ]; then echo "not gofumpt-ed (make fmt):"; echo "$$out"; exit 1; fi
	$(GO) vet ./...
	$(GO) vet $(TOKENS)
	$(BIN)/tools/staticcheck ./...
	$(BIN)/tools/staticcheck $(TOKENS)
	for tags in none bigint precompile bigint,precompile; do \
	  GOOS=linux GOARCH=riscv64 $(GO) vet -tags $$tags ./riscv/guest ./riscv/guests/... && \
	  GOOS=linux GOARCH=riscv64 $(BIN)/tools/staticcheck -tags $$tags ./riscv/guest ./riscv/guests/... || exit 1; done

# Modules with an advisory, in the database of govulncheck: any fails, called or not. Without a network it says that it
# is skipped. Modules of peers are other people's systems as they were published, and are left out.
advisories:
	cd tools && $(GO) test ./advisories && $(GO) run ./advisories .. ../examples .

# The licences of everything that the released programs contain, after a change of go.mod. A test of release-check says
# when it is needed.
notices:
	$(GO) run -C tools ./notices ../THIRD_PARTY_NOTICES

# The messages of the services in Go, after a change of proto/. buf takes two minutes to build once.
BUF = $(GO) tool -modfile=../tools/buf.mod buf
proto:
	cd proto && $(BUF) format -w && $(BUF) generate

# That proto/ follows buf's rules, breaks no program that was built with the newest release, and that the messages in Go are
# generated from it.
proto-check:
	cd proto && $(BUF) lint && $(BUF) format -d --exit-code
	@tag=$$(git describe --tags --abbrev=0 2>/dev/null); \
	if [ -n "$$tag" ] && git cat-file -e "$$tag:proto" 2>/dev/null; then cd proto && $(BUF) breaking --against "../.git#tag=$$tag,subdir=proto"; \
	else echo "no release has proto/: there is nothing to break"; fi
	out=$$(mktemp -d) && (cd proto && $(BUF) generate -o $$out/from) && diff -r $$out/token/internal/rpc/tokenv1 token/internal/rpc/tokenv1 && rm -r $$out

# Every platform that is not this one, and the portable code paths: all is type-checked; the
# packages that hold assembly are vetted and linked; what has portable code is tested.
ASSEMBLY = ./hash/keccak ./goldilocks ./goldilocks/poseidon ./internal/study/loops ./internal/workload/sve
cross:
	$(GO) run -C tools ./typecheck windows/amd64 darwin/amd64 darwin/arm64 linux/arm64 linux/amd64,purego
	GOOS=windows GOARCH=amd64 $(GO) test -vet=all -exec=true -run '^$$' $(ASSEMBLY)
	GOOS=darwin GOARCH=amd64 $(GO) test -vet=all -exec=true -run '^$$' $(ASSEMBLY)
	GOOS=darwin GOARCH=arm64 $(GO) test -vet=all -exec=true -run '^$$' $(ASSEMBLY)
	$(GO) test -tags purego -skip '^TestEmulated$$' ./group ./token/action ./goldilocks/... ./hash/keccak ./stark/internal/tree

# Suites of cases, each in a process of its own, to tables, plots and one page in
# bin/suites. Nothing else should run. bench-quick: under three minutes on two cores;
# bench: those of the study of confidential tokens, hours.
bench-quick: build
	mkdir -p $(BIN)/suites
	cd $(BIN)/suites && ../zkbench suite quick $(SUITEFLAGS)

bench: build
	mkdir -p $(BIN)/suites
	cd $(BIN)/suites && ../zkbench suite study $(SUITEFLAGS)

# The working tree against the revision BASE, through benchstat; COUNT, BENCHTIME,
# BENCH and FLAGS as in tools/benchstat.sh.
benchstat: $(BIN)/tools
	@./tools/benchstat.sh "$(BASE)"

# Sessions of which the right answer is known, on this machine: some minutes, and
# nothing else should run.
selfcheck: build
	$(BIN)/zkbench selfcheck

# How operations scale with processors: measured, predicted, and what as many separate processes reach.
scaling: build
	tools/scaling.sh $$(nproc) $(BIN)/zkbench

# The public studies, some hours: records, pages and charts in bin/studies, which must
# have no records before. Nothing else should run. The records are packed too: the same ones
# give the same bytes (-n: neither name nor time), which belong to docs/studies/records with
# the page.
studies: build portable
	@failed=0; for s in token plonk keccak pairing sve; do \
	  $(BIN)/zkbench study $$s --out $(BIN)/studies/$$s $(STUDYFLAGS) || failed=1; \
	  gzip -9nkf $(BIN)/studies/$$s/records.jsonl || failed=1; \
	done; exit $$failed

# Programs of others, which use this module as an outsider does.
examples:
	cd examples && $(GO) vet ./... && $(GO) test -count=1 ./... # they run programs, which no cache knows

peers-check:
	cd peers/go && $(GO) vet ./... && $(GO) test ./...

# Other people's systems beside ours, at least ten rounds. Cargo is needed for
# the Rust peers, and modules of some 600 MB for Panurus; what cannot be built is named in the result and left out.
peers: build
	-cd peers/go && $(GO) build -o bin/ ./...
	-cd peers/go/panurus && $(GO) build -o ../bin/ .
	-cd peers/rust && cargo build --release --locked
	-cd peers/rust && RUSTFLAGS="-C target-cpu=generic" cargo build --release --locked -p peer-plonky2 -p peer-plonky3 --target-dir target/baseline
	-cd peers/zkvm && cargo build --release --locked -p peer-sp1
	-cd peers/zkvm && cargo build --release --locked -p peer-sp1 --features portable --target-dir target/portable
	-cd peers/zkvm && cargo build --release --locked -p peer-risc0-4
	-cd peers/zkvm && cargo build --release --locked -p peer-risc0
	$(BIN)/zkbench peers $(PEERSFLAGS)

# The provers of RISC-V programs beside ours. SP1's takes half an hour to build on two processors, and the run half an hour
# on one; PEERSFLAGS="--cases loop=integer": one of the four programs. SP1's build runs protoc, which the first line builds.
peers-prove: build
	-cd peers/zkvm-prover && cargo build --release --locked -p protoc && cargo build --release --locked -p peer-sp1-prover
	$(BIN)/zkbench peers --prove $(PEERSFLAGS)

# README.md and docs/ as a site in bin/site, which opens from there without a network.
site: build
	rm -rf $(BIN)/site
	$(GO) run -C tools ./site -zkbench ../$(BIN)/zkbench ../$(BIN)/site

# The archives of a release, what they contain (SBOM) and their checksums, in bin/dist, from a clone at the tag of its newest
# version without changes; DISTFLAGS=--snapshot: from any other. DISTSKIP=: also the draft on GitHub. By the Go version of
# go.mod, even where a newer one is installed. GoReleaser itself takes minutes to build once.
dist:
	$(if $(findstring --snapshot,$(DISTFLAGS)),,$(GO) run -C tools ./release ..)
	GOTOOLCHAIN=go$$(sed -n 's/^go //p' go.mod) $(GO) run github.com/goreleaser/goreleaser/v2@v2.16.0 release --clean $(DISTSKIP) $(DISTFLAGS)

# That the module installs from its tag, that its programs are the same wherever they are built,
# that the site has no link that leads nowhere, that GoReleaser accepts its file, and that the notices are complete; of the
# last commit, but the site, GoReleaser's file and the notices.
release-check:
	cd tools && $(GO) test -count=1 ./release ./site ./notices ./sbom
	cd tools/goreleaser && $(GO) test -count=1 ./...

clean:
	rm -rf $(BIN) peers/go/bin
