package documents

import (
	"fmt"
	"slices"
	"strings"
)

// CheckMarks finds blocks with commands that nobody is said to run, or wrongly. looks and runs are the names that there are tests for.
func (r *Repository) CheckMarks(page *Page, looks, runs []string) (wrong []string) {
	complain := func(line int, format string, args ...any) {
		wrong = append(wrong, fmt.Sprintf("%s:%d: ", page.Path, line)+fmt.Sprintf(format, args...))
	}
	ran := r.ranByCI()
	for _, block := range page.Blocks {
		if !block.HasCommands() && !block.IsSession() {
			continue
		}
		switch mark := block.Mark; mark.Kind {
		case MarkLook:
			if !slices.Contains(looks, mark.What) {
				complain(block.Line, "no look is called %s", mark.What)
			}
		case MarkRun:
			if !slices.Contains(runs, mark.What) {
				complain(block.Line, "no test runs a block called %s", mark.What)
			}
		case MarkRunBy:
			for _, step := range block.Steps() {
				command := plainCommand(step.Command)
				if mark.What == ".ci/run" && !ran[command] {
					complain(block.Line, ".ci/run does not come to run %q", command)
				} else if mark.What != ".ci/run" && !strings.Contains(plainLines(r.Files[mark.What]), command) {
					complain(block.Line, "%s does not run %q", mark.What, command)
				}
			}
		case MarkNotRun:
			if len(strings.Fields(mark.What)) < 2 {
				complain(block.Line, "say why it is not run")
			}
		default:
			complain(block.Line, "say before the block who runs its commands: look, run, run by, or not run")
		}
	}
	return wrong
}

func plainLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = plainCommand(line)
	}
	return strings.Join(lines, "\n")
}
