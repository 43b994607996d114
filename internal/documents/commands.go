package documents

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// CheckCommands finds commands and flags, in blocks and in texts, that are not there.
func (r *Repository) CheckCommands(page *Page) (wrong []string) {
	check := func(line int, command string) {
		if r.isFine(command) {
			return
		}
		for _, why := range r.checkCommand(page.Path, command) {
			wrong = append(wrong, fmt.Sprintf("%s:%d: `%s`: %s", page.Path, line, command, why))
		}
	}
	for _, block := range page.Blocks {
		if block.HasCommands() {
			for _, step := range block.Steps() {
				for command := range strings.FieldsFuncSeq(strings.ReplaceAll(step.Command, " && ", "\n"), func(c rune) bool { return c == '\n' }) {
					check(block.Line, strings.TrimSpace(command))
				}
			}
		}
	}
	for _, span := range page.Spans {
		if strings.Contains(span.Text, " ") || strings.HasPrefix(span.Text, "--") {
			check(span.Line, span.Text)
		}
	}
	return wrong
}

// checkCommand looks at a command line as far as it is one of ours.
func (r *Repository) checkCommand(document, command string) []string {
	words := strings.Fields(command)
	for len(words) > 0 && assignment.MatchString(words[0]) {
		words = words[1:]
	}
	if len(words) == 0 {
		return nil
	}
	rest := words[1:]
	switch path.Base(words[0]) {
	case "sidecar":
		return r.checkSidecar(rest)
	case "make":
		return r.checkMake(rest)
	case "npm":
		return r.checkNpm(document, rest)
	case "go":
		return r.checkGo(rest)
	case "node":
		if len(rest) > 0 && !strings.HasPrefix(rest[0], "-") && !r.has(path.Join(path.Dir(document), rest[0])) && !r.has(rest[0]) {
			return []string{"there is no file " + rest[0]}
		}
	}
	if strings.HasPrefix(words[0], "--") {
		return r.checkFlag(document, words[0])
	}
	return nil
}

var assignment = regexp.MustCompile(`^[A-Z_]+=`)

// subcommandsOf asks the program what stands below a command.
func (r *Repository) subcommandsOf(command []string) []string {
	key := strings.Join(command, " ")
	if known, there := r.subcommands[key]; there {
		return known
	}
	var names []string
	for line := range strings.Lines(r.Program(append(append([]string{"__complete"}, command...), "")...)) {
		if name, _, described := strings.Cut(line, "\t"); described && !strings.HasPrefix(name, "-") {
			names = append(names, name)
		}
	}
	r.subcommands[key] = names
	return names
}

// acceptsFlag asks the program whether a command has a flag.
func (r *Repository) acceptsFlag(command []string, flag string) bool {
	name, _, _ := strings.Cut(flag, "=")
	key := strings.Join(append(command, name), " ")
	if _, there := r.flags[key]; !there {
		r.flags[key] = !strings.Contains(r.Program(append(slices.Clone(command), name+"=x", "--help")...), "unknown flag")
	}
	return r.flags[key]
}

func (r *Repository) checkSidecar(words []string) (wrong []string) {
	var command []string
	named := true
	for _, word := range words {
		word = strings.Trim(word, `'"`)
		switch {
		case strings.HasPrefix(word, "--"):
			if !r.acceptsFlag(command, word) {
				wrong = append(wrong, fmt.Sprintf("sidecar %s has no flag %s", strings.Join(command, " "), word))
			}
			named = false // what follows may be its value
		case named && slices.Contains(r.subcommandsOf(command), word):
			command = append(command, word)
		case named && len(r.subcommandsOf(command)) > 0 && commandWord.MatchString(word):
			wrong = append(wrong, strings.TrimSpace("sidecar "+strings.Join(command, " "))+" has no command "+word)
			named = false
		case len(command) == 1 && command[0] == "call" && methodName.MatchString(word):
			if !slices.Contains(r.methods(), word) {
				wrong = append(wrong, "there is no method "+word)
			}
		default:
			named = false
		}
	}
	return wrong
}

var (
	commandWord = regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
	methodName  = regexp.MustCompile(`^[a-z_]+\.[a-z_]+$`)
	listedName  = regexp.MustCompile(`"([a-z_]+\.[a-z_]+)"`)
)

// methods asks the program for the names of its methods.
func (r *Repository) methods() []string {
	if _, there := r.subcommands["call rpc.methods"]; !there {
		var names []string
		for _, m := range listedName.FindAllStringSubmatch(r.Program("call", "rpc.methods"), -1) {
			names = append(names, m[1])
		}
		r.subcommands["call rpc.methods"] = names
	}
	return r.subcommands["call rpc.methods"]
}

func (r *Repository) checkMake(words []string) (wrong []string) {
	for _, word := range words {
		name, _, assigned := strings.Cut(word, "=")
		switch {
		case assigned && !strings.Contains(r.Files["Makefile"], "$("+name+")"):
			wrong = append(wrong, "the Makefile has no variable "+name)
		case assigned:
			return wrong // its value may have spaces
		case commandName.MatchString(word) && !r.hasTarget(word):
			wrong = append(wrong, "there is no make target "+word)
		}
	}
	return wrong
}

var commandName = regexp.MustCompile(`^[a-z][a-z-]*$`)

func (r *Repository) checkNpm(document string, words []string) []string {
	if len(words) == 0 {
		return nil
	}
	script := ""
	switch words[0] {
	case "run":
		for _, word := range words[1:] {
			if !strings.HasPrefix(word, "-") {
				script = word
				break
			}
		}
	case "test", "start":
		script = words[0]
	}
	if script != "" && !r.hasScript(document, script) {
		return []string{"there is no npm script " + script}
	}
	return nil
}

// goFlags are those of Go's own commands that documents use.
var goFlags = []string{"-count", "-fuzz", "-fuzztime", "-h", "-m", "-o", "-race", "-rapid.checks", "-rapid.seed", "-run", "-tags", "-timeout", "-trimpath", "-update", "-v"}

func (r *Repository) checkGo(words []string) (wrong []string) {
	if len(words) == 0 || words[0] != "run" && words[0] != "test" && words[0] != "build" && words[0] != "tool" {
		return nil
	}
	if words[0] == "tool" {
		if len(words) > 1 && words[1] != "pprof" && !strings.Contains(r.Files["go.mod"], "/"+words[1]+"\n") {
			wrong = append(wrong, "go.mod has no tool "+words[1])
		}
		return wrong
	}
	folder := "."
	for _, word := range words[1:] {
		if strings.HasPrefix(word, "./") {
			folder = strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(word, "./"), "..."), "/")
			if folder == "" {
				folder = "."
			}
			if !r.has(folder) {
				wrong = append(wrong, "there is no package "+word)
			}
		}
	}
	for i, word := range words[1:] {
		name, value, assigned := strings.Cut(word, "=")
		switch {
		case !strings.HasPrefix(name, "-") || name == "-":
			continue
		case name == "-run" || name == "-fuzz":
			if !assigned && i+2 < len(words) {
				value = words[i+2]
			}
			pattern, err := regexp.Compile(strings.Split(strings.Trim(value, `'"`), "/")[0])
			if err != nil || !r.hasTest(folder, pattern.MatchString) {
				wrong = append(wrong, "no test in "+folder+" matches "+value)
			}
		case !slices.Contains(goFlags, name) && !r.hasGoFlag(strings.TrimPrefix(name, "-")):
			wrong = append(wrong, "there is no flag "+name)
		}
	}
	return wrong
}

// checkFlag looks at a flag that stands alone: one of any command of the program, or of a program beside the document.
func (r *Repository) checkFlag(document, flag string) []string {
	commands := [][]string{nil}
	for i := 0; i < len(commands); i++ {
		if r.acceptsFlag(commands[i], flag) {
			return nil
		}
		if len(commands[i]) < 2 {
			for _, name := range r.subcommandsOf(commands[i]) {
				if name != "help" {
					commands = append(commands, append(slices.Clone(commands[i]), name))
				}
			}
		}
	}
	name := regexp.QuoteMeta(strings.TrimPrefix(flag, "--"))
	option := regexp.MustCompile(`['" ]` + name + `['"]?:`)
	if folder := path.Dir(document); strings.HasPrefix(document, "npm/") {
		for file, source := range r.Files {
			if strings.HasPrefix(file, folder+"/") && !strings.HasSuffix(file, ".md") && option.MatchString(source) {
				return nil
			}
		}
	}
	return []string{"no command has this flag"}
}
