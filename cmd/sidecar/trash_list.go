package main

import (
	"context"
	"fmt"
	"os"
	"strconv"

	"github.com/spf13/cobra"
)

// trashed is one entry of trash.list.
type trashed struct {
	OperationID  string   `json:"operation_id"`
	DeletedAt    float64  `json:"deleted_at"`
	KeepUntil    float64  `json:"keep_until"`
	Title        string   `json:"title"`
	MessageCount int      `json:"message_count"`
	Bytes        int64    `json:"bytes"`
	IDs          []string `json:"ids"`
}

type trashListing struct {
	Entries    []trashed `json:"entries"`
	Unreadable []string  `json:"unreadable"`
}

func newTrashListCommand() *cobra.Command {
	var flags homeFlags
	cmd := &cobra.Command{
		Use:   "list --home DIR",
		Short: "List the deleted conversations that can be taken back",
		Long: `Lists what was deleted with --keep, the newest first: on a terminal as a table, in
a pipe as one line each, its cells separated by tabs: the operation, the session,
deleted at and kept until (seconds since 1970), messages, bytes, title. The session
or the operation is what restore and purge take; a wide terminal shows both.

What cannot be read is told on standard error.

Exit status: 0; 1 if the trash cannot be read; 2 for a wrong command line.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return flags.run(cmd, listTrash)
		},
	}
	flags.add(cmd)
	return cmd
}

func listTrash(ctx context.Context, e *errand) error {
	listing, raw, err := askAbout[trashListing](ctx, e, "trash.list", nil)
	if err != nil {
		return err
	}
	return e.print(raw, listing.show)
}

const emptyTrash = "The trash is empty."

// wideEnough is the width of a terminal that has room for the operations beside what a person goes by.
const wideEnough = 112

func (l *trashListing) show(p *paper) {
	for _, name := range l.Unreadable {
		operation := plainText(operationIn(name))
		fmt.Fprintf(os.Stderr, "%s cannot be read; 'sidecar trash purge %s' removes it\n", operation, operation)
	}
	switch {
	case len(l.Entries) > 0:
		l.table(p)
	case len(l.Unreadable) == 0 && p.terminal:
		p.say(emptyTrash)
	}
}

func (l *trashListing) table(p *paper) {
	head := []string{"operation", "session", "deleted", "kept until", "messages", "size", "title"}
	first := 0
	if p.terminal && p.width < wideEnough {
		first = 1
	}
	var rows [][]string
	for _, e := range l.Entries {
		rows = append(rows, e.row(p.terminal)[first:])
	}
	p.columns(head[first:], rows)
}

func (e *trashed) row(terminal bool) []string {
	deleted, until, size := secondsText(e.DeletedAt), secondsText(e.KeepUntil), strconv.FormatInt(e.Bytes, 10)
	if terminal {
		deleted, until, size = dayText(&e.DeletedAt), dayText(&e.KeepUntil), bytesText(e.Bytes)
	}
	return []string{e.OperationID, e.session(), deleted, until, strconv.Itoa(e.MessageCount), size, e.Title}
}

// session is the one of the deleted sessions that stands for them all: the first, as the delete told them.
func (e *trashed) session() string {
	if len(e.IDs) == 0 {
		return ""
	}
	return e.IDs[0]
}
