package documents

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// aRepository has one of everything that a document may name.
func aRepository(fine map[string]string) *Repository {
	return NewRepository(map[string]string{
		"Makefile": "NAME := x\n.PHONY: build test\nbuild:\n\tgo build $(NAME)\ntest: check\n\t@go test ./...\n\t$(MAKE) npm-test\ncheck:\n\tgo vet ./...\n" +
			"npm-test:\n\tcd npm && npm run --silent lint && npm test --silent\nbench:\n\tgo run ./bench\n",
		".ci/run":          "#!/bin/sh\nmake test\n.ci/fuzz 10s\n",
		".ci/fuzz":         "go test -fuzz=.\n",
		"go.mod":           "tool (\n\thonnef.co/go/tools/cmd/staticcheck\n)\n",
		"rpc/wire.go":      "package rpc // SIDECAR_LOG\n",
		"rpc/wire_test.go": "package rpc\n\nvar long = flag.Bool(\"long\", false, \"\")\n\nfunc TestFraming(t *testing.T) {\n}\n\nfunc FuzzLine(f *testing.F) {\n}\n",
		"npm/package.json": `{"scripts":{"lint":"tsc","test":"vitest"}}`,
		"docs/b.md":        "the page itself\n",
		"npm/src/main.ts":  "parseArgs({ options: { 'to-file': text } })",
		"docs/a.md":        "# One\n",
	}, func(args ...string) string {
		switch line := strings.Join(args, " "); {
		case line == "__complete ":
			return "list\tLists\ntrash\tThe trash\ncall\tCalls\n:4\n"
		case line == "__complete trash ":
			return "purge\tPurges\n:4\n"
		case line == "call rpc.methods":
			return `{"methods":["rpc.methods","state_db.compact"]}`
		case strings.HasSuffix(line, "--home=x --help"), strings.HasPrefix(line, "trash purge --yes"):
			return "Usage"
		case strings.HasSuffix(line, "--help"):
			return "sidecar: unknown flag: --nope"
		}
		return ":4\n"
	}, fine)
}

// all is what every check says of a page.
func (r *Repository) all(path, source string) []string {
	page := Read(path, source)
	wrong := r.CheckMarks(page, []string{"list"}, []string{"talk"})
	wrong = append(wrong, r.CheckCommands(page)...)
	return append(wrong, r.CheckReferences(page, map[string]*Page{path: page, "docs/a.md": Read("docs/a.md", "# One\n\n## Two, `three`\n\n## One\n\n<a name=\"named\"></a>\n")})...)
}

const shell = "```console\n$ make test\n```\n"

func TestWhatIsRight(t *testing.T) {
	for name, source := range map[string]string{
		"a look":                     "<!-- look: list -->\n" + shell,
		"a run":                      "<!-- run: talk -->\n" + shell,
		"a talk":                     "<!-- run: talk -->\n```\n-> {}\n<- {}\n```\n",
		"run by CI":                  "<!-- run by: .ci/run -->\n```sh\nmake test   # all\nnpm run lint && npm test\ngo test -fuzz=.\n```\n",
		"run by a file":              "<!-- run by: .ci/fuzz -->\n```sh\ngo test -fuzz=.\n```\n",
		"not run":                    "<!-- not run: it takes long -->\n" + shell,
		"in a list":                  "- a\n\n  <!-- not run: it takes long -->\n  ```sh\n  make test\n  ```\n",
		"another language":           "```json\n{}\n```\n",
		"commands":                   "`make build NAME=a b`, `sidecar list --home DIR`, `sidecar trash purge --yes`, `sidecar call state_db.compact`, `--home`, `make the\nbuild`",
		"more commands":              "`go test ./rpc -run TestFraming -long`, `go run ./rpc`, `go tool staticcheck`, `X=1 make build`",
		"names":                      "`rpc/wire.go`, `wire.go`, `rpc/`, `rpc/*_test.go`, `TestFraming`, `TestFra…`, `FuzzLine`, `docs/a.md`, `sessions/`, `state.db`, `a.b`, `SIDECAR_LOG=x`",
		"links":                      "[a](a.md) [b](a.md#one) [c](a.md#two-three) [d](a.md#one-1) [e](a.md#named) [f](https://example.org/x#y) [g](../rpc/wire.go) [h](#here)\n\n# Here",
		"what follows a look's name": "<!-- a comment -->\n<!-- look: list -->\n" + shell,
	} {
		source = strings.ReplaceAll(source, "`make the\nbuild`", "`make\nbuild`")
		assert.Empty(t, aRepository(nil).all("docs/b.md", source), name)
	}
	assert.Empty(t, aRepository(nil).all("npm/README.md", "`--to-file PATH` `npm run lint` `node src/main.ts`"), "beside the document")
	assert.Empty(t, aRepository(map[string]string{"make nothing": "an example"}).all("docs/b.md", "`make nothing`"))
}

func TestWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct{ source, line string }{
		"no mark":                      {shell, "docs/b.md:2: say before the block who runs"},
		"no mark before a talk":        {"```\n-> {}\n```\n", "say before the block"},
		"no mark before a prompt":      {"```\nso:\n$ make test\n```\n", "say before the block"},
		"a mark that is not before it": {"<!-- look: list -->\n\nText.\n\n" + shell, "say before the block"},
		"a look that is none":          {"<!-- look: lost -->\n" + shell, "no look is called lost"},
		"a run that is none":           {"<!-- run: lost -->\n" + shell, "no test runs a block called lost"},
		"CI does not run it":           {"<!-- run by: .ci/run -->\n```sh\nmake bench\n```\n", `.ci/run does not come to run "make bench"`},
		"the file does not run it":     {"<!-- run by: .ci/fuzz -->\n" + shell, `.ci/fuzz does not run "make test"`},
		"no reason":                    {"<!-- not run: slow -->\n" + shell, "say why it is not run"},
		"a target":                     {"`make bild`", "docs/b.md:1: `make bild`: there is no make target bild"},
		"a target in a block":          {"<!-- not run: it takes long -->\n```sh\nmake build && make bild\n```\n", "there is no make target bild"},
		"a variable":                   {"`make build NAM=x`", "the Makefile has no variable NAM"},
		"a command":                    {"`sidecar lst --home DIR`", "sidecar has no command lst"},
		"a command of a command":       {"`sidecar trash bring-back ID`", "sidecar trash has no command bring-back"},
		"a flag of the property tests": {"`go test ./rpc -rapid.cheks=5`", "there is no flag -rapid.cheks"},
		"a flag":                       {"`sidecar list --hom DIR`", "sidecar list has no flag --hom"},
		"a flag of another command":    {"`sidecar list --yes`", "sidecar list has no flag --yes"},
		"a flag alone":                 {"`--nope`", "no command has this flag"},
		"a method":                     {"`sidecar call state_db.compress`", "there is no method state_db.compress"},
		"a script":                     {"`npm run lnt`", "there is no npm script lnt"},
		"a package":                    {"`go run ./rcp`", "there is no package ./rcp"},
		"a test to run":                {"`go test ./rpc -run TestFrames`", "no test in rpc matches TestFrames"},
		"a flag of a test":             {"`go test ./rpc -short-one`", "there is no flag -short-one"},
		"a tool":                       {"`go tool staticchek ./...`", "go.mod has no tool staticchek"},
		"a file":                       {"`rpc/wires.go`", "there is no file rpc/wires.go"},
		"a file without its folder":    {"`wires.go`", "there is no file wires.go"},
		"a pattern":                    {"`rpc/*.txtar`", "there is no file rpc/*.txtar"},
		"a test":                       {"`TestFrames`", "there is no test TestFrames"},
		"a variable of the system":     {"`SIDECAR_LOGS`", "nothing reads SIDECAR_LOGS"},
		"the beginning of a test":      {"`TestFrames…`", "there is no test TestFrames…"},
		"a link":                       {"one\ntwo [a](b/c.md)", "docs/b.md:2: the link b/c.md leads to no file"},
		"a link to a heading":          {"[a](a.md#three)", "the link a.md#three leads to no heading"},
		"a link in the page":           {"[a](#three)", "the link #three leads to no heading"},
		"a picture":                    {"![a](a.png)", "the link a.png leads to no file"},
	} {
		t.Run(name, func(t *testing.T) {
			wrong := aRepository(nil).all("docs/b.md", c.source)
			require.Len(t, wrong, 1)
			assert.Contains(t, wrong[0], c.line)
		})
	}
	fine := aRepository(map[string]string{"make nothing": "an example", "x": "y"})
	fine.all("docs/b.md", "`make nothing`")
	assert.Equal(t, []string{"x"}, fine.Unused())
}

func TestStepsOfABlock(t *testing.T) {
	page := Read("a.md", "```console\n$ one \\\n    more   # why\nprinted\n\n$ two\n```\n\n```sh\n# first\none\n\ntwo\n```\n")
	assert.Equal(t, []Step{{"one \\\n    more   # why", "printed\n\n"}, {"two", ""}}, page.Blocks[0].Steps())
	assert.Equal(t, []Step{{"one", ""}, {"two", ""}}, page.Blocks[1].Steps())
}
