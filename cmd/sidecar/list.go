package main

import (
	"context"
	"fmt"
	"os"
	"strconv"

	"github.com/spf13/cobra"
)

// conversation is one row of state_db.list_conversations.
type conversation struct {
	Root         string   `json:"root"`
	Newest       string   `json:"newest"`
	Title        string   `json:"title,omitempty"`
	Source       string   `json:"source,omitempty"`
	Segments     int      `json:"segments"`
	MessageCount int      `json:"message_count"`
	Bytes        int64    `json:"bytes"`
	LastActivity *float64 `json:"last_activity,omitempty"`
	InUse        bool     `json:"in_use"`
}

type conversationPage struct {
	Conversations []conversation `json:"conversations"`
	Next          string         `json:"next,omitempty"`
}

const pageSize = 100

func newListCommand() *cobra.Command {
	var flags homeFlags
	var query string
	var limit limitFlag
	cmd := &cobra.Command{
		Use:   "list --home DIR",
		Short: "List conversations, newest activity first",
		Long: `Lists conversations, newest activity first: on a terminal as a table, in a pipe
as one line each, its cells separated by tabs: newest id, first id, last activity
(seconds since 1970), segments, messages, bytes, "in use" or nothing, source,
title.

Exit status: 0; 1 if the history cannot be read; 2 for a wrong command line.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := limit.check(); err != nil {
				return err
			}
			return flags.run(cmd, func(ctx context.Context, e *errand) error { return list(ctx, e, query, limit.limit) })
		},
	}
	flags.add(cmd)
	cmd.Flags().StringVar(&query, "query", "", "only conversations with a message that holds all these words")
	limit.add(cmd)
	return cmd
}

func list(ctx context.Context, e *errand, query string, limit int) error {
	all := []conversation{}
	next := ""
	params := map[string]any{}
	if query != "" {
		params["query"] = query
	}
	for len(all) < limit {
		params["limit"] = min(pageSize, limit-len(all))
		page, _, err := askAbout[conversationPage](ctx, e, "state_db.list_conversations", params)
		if err != nil {
			return err
		}
		all = append(all, page.Conversations...)
		if next = page.Next; next == "" {
			break
		}
		params["before"] = next
	}
	p := e.paper
	if e.json {
		p.json(conversationPage{all, next})
		return p.err
	}
	if p.terminal && len(all) == 0 {
		p.say("No conversations.")
		return p.err
	}
	var rows [][]string
	for _, conversation := range all {
		rows = append(rows, conversation.row(p.terminal))
	}
	p.columns([]string{"session", "last activity", "messages", "size", "", "title"}, rows)
	if next != "" {
		fmt.Fprintf(os.Stderr, "There are more than these %d; --limit shows them.\n", len(all))
	}
	return p.err
}

func (c *conversation) row(terminal bool) []string {
	inUse := ""
	if c.InUse {
		inUse = "in use"
	}
	if terminal {
		return []string{
			c.Newest, dayText(c.LastActivity), strconv.Itoa(c.MessageCount), bytesText(c.Bytes), inUse, c.Title,
		}
	}
	activity := ""
	if c.LastActivity != nil {
		activity = secondsText(*c.LastActivity)
	}
	return []string{
		c.Newest, c.Root, activity, strconv.Itoa(c.Segments), strconv.Itoa(c.MessageCount),
		strconv.FormatInt(c.Bytes, 10), inUse, c.Source, c.Title,
	}
}
