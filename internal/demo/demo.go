// Package demo shows on a made-up history, in a temporary folder, what the sidecar does. It plays two parts: the desktop
// app, which starts a real sidecar and speaks to it over pipes, and the Agent, which owns the store. It deletes nothing
// itself, and what it says it has checked: a result that is not as told ends the show with an error.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"session-sidecar/methods"
)

// show is one run of the demo.
type show struct {
	page    *page
	folder  string // temporary; the home is in it
	store   *store
	sidecar *sidecar
	before  *snapshot
	after   *snapshot
}

// Run shows the demo on out. However it ends, the temporary folder is gone and so is the sidecar that it started.
func Run(ctx context.Context, out io.Writer) (err error) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	// Asked for so that a reader who leaves (a pager) makes a write fail, and does not kill us before we have tidied up.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)

	s := &show{page: newPage(out)}
	defer func() {
		if tidyErr := s.tidy(); err == nil {
			err = tidyErr
		}
		if err != nil {
			err = fmt.Errorf("the demo ended early: %w", err)
		}
	}()
	for _, step := range []func(context.Context) error{
		s.history, s.introduction, s.delete, s.retry, s.refusedDelete, s.rest, s.end,
	} {
		err := step(ctx)
		switch {
		case ctx.Err() != nil:
			return errors.New("it was interrupted")
		case err != nil:
			return err
		case s.page.err != nil:
			return fmt.Errorf("write to standard output: %w", s.page.err)
		}
	}
	return nil
}

// history makes the store and shows it.
func (s *show) history(ctx context.Context) (err error) {
	if s.folder, err = os.MkdirTemp("", "sidecar-demo-"); err != nil {
		return fmt.Errorf("make a temporary folder: %w", err)
	}
	if s.store, err = makeStore(ctx, filepath.Join(s.folder, "profile")); err != nil {
		return err
	}
	if s.before, err = s.store.snapshot(ctx); err != nil {
		return err
	}
	p := s.page
	p.line(span{"The session sidecar: a deleted chat stays deleted", bold})
	p.blank()
	p.say(`An AI Agent keeps its chats in one database, state.db. A desktop app that shows them starts the sidecar
		beside itself and asks it to delete. This demo plays the app and the Agent, with a real sidecar and a made-up
		history in a temporary folder. Nothing of yours is touched.`)
	p.heading("1. A history")
	p.say(`What a person calls one conversation is often several sessions. A long one is compressed and goes on in a
		new session, work is handed to delegates, and a branch is a conversation of its own. Here are %d conversations
		in %d sessions:`, roots(s.before.rows), len(s.before.rows))
	p.blank()
	p.tree(s.before.rows)
	return nil
}

// introduction starts the sidecar and shakes hands.
func (s *show) introduction(ctx context.Context) (err error) {
	p := s.page
	p.heading("2. The sidecar starts")
	if s.sidecar, err = startSidecar(p); err != nil {
		return err
	}
	p.say(`The app speaks to it over pipes: one line of JSON is a request (->), one line is its answer (<-). Long lines
		are wrapped here. First, both sides say which version they speak.`)
	p.blank()
	var hello struct {
		PID int `json:"pid"`
	}
	params := struct {
		Version int `json:"rpc_version"`
	}{methods.RPCVersion}
	if err := s.sidecar.call(ctx, "runtime.handshake", params, &hello); err != nil {
		return err
	}
	if hello.PID != s.sidecar.cmd.Process.Pid {
		return errors.New("another process than the one that was started has answered")
	}
	p.check("The sidecar is process %d, a child of this demo (%d).", hello.PID, os.Getpid())
	return nil
}

// deleteParams has its fields in the order in which people read them.
type deleteParams struct {
	Home  string `json:"profile_home"`
	ID    string `json:"session_id"`
	Whole bool   `json:"whole_conversation"`
}

// deleteAnswer is what a host needs to know of a delete.
type deleteAnswer struct {
	OK         bool     `json:"ok"`
	DeletedIDs []string `json:"deleted_ids"`
	Refused    string   `json:"refused"`
	Reason     string   `json:"reason"`
	Detail     string   `json:"detail"`
	Guard      *struct {
		SessionID string  `json:"session_id"`
		Kind      string  `json:"kind"`
		Holder    string  `json:"holder"`
		ExpiresAt float64 `json:"expires_at"`
	} `json:"guard"`
}

func (s *show) askToDelete(ctx context.Context, id string) (answer deleteAnswer, err error) {
	err = s.sidecar.call(ctx, "state_db.delete_cli_session", deleteParams{s.store.home, id, true}, &answer)
	return answer, err
}

// delete asks for a conversation by its newest segment, and makes sure that it went, and nothing else.
func (s *show) delete(ctx context.Context) error {
	p := s.page
	p.heading("3. A conversation is deleted")
	p.say(`The app knows the newest session of “Kyōto in autumn”, and asks for the whole conversation: an older part
		that stayed would come back as a chat that the user had deleted.`)
	p.blank()
	answer, err := s.askToDelete(ctx, newestSegment)
	if err != nil {
		return err
	}
	gone := going()
	if !answer.OK {
		return fmt.Errorf("the delete failed: %s: %s", answer.Reason, answer.Detail)
	}
	if !slices.Equal(slices.Sorted(slices.Values(answer.DeletedIDs)), slices.Sorted(maps.Keys(gone))) {
		return fmt.Errorf("the delete took other sessions than it should: %v", answer.DeletedIDs)
	}
	if s.after, err = s.store.snapshot(ctx); err != nil {
		return err
	}
	if err := s.after.mustBe(s.before.without(gone)); err != nil {
		return err
	}
	p.check("%d sessions are gone: %d segments of the conversation and %d delegates.",
		len(gone), len(gone)-goingAs(roleDelegate), goingAs(roleDelegate))
	p.check("Their messages, token counts and files are gone, and search finds them no more.")
	p.check("The branch stays, for it is another conversation. Every other row and file is as it was.")
	return nil
}

// refusedDelete asks for a conversation in which a turn runs, and makes sure that nothing happened to it.
func (s *show) refusedDelete(ctx context.Context) error {
	p := s.page
	p.heading("5. A delete is refused")
	p.say(`In “Steuererklärung 2025” the Agent is just writing an answer. It says so with a guard: a turn lease in the
		database, under the first session of the conversation. To delete now would pull the rows from under a running
		turn, so the sidecar refuses, and names who is in the way.`)
	p.blank()
	held, err := s.store.takeLease(ctx, busyRoot)
	if err != nil {
		return err
	}
	was, err := s.store.snapshot(ctx)
	if err != nil {
		return err
	}
	answer, err := s.askToDelete(ctx, busyNewest)
	if err != nil {
		return err
	}
	guard := answer.Guard
	if answer.OK || answer.Refused != "active_turn" || guard == nil || len(answer.DeletedIDs) > 0 {
		return fmt.Errorf("a conversation with a running turn was not refused: %s %s", answer.Reason, answer.Detail)
	}
	expires := time.Unix(int64(guard.ExpiresAt), 0)
	if guard.Kind != "turn_lease" || guard.Holder != held.holder || !expires.Equal(held.expires) {
		return fmt.Errorf("the refusal names another guard than the one that is there: %+v", *guard)
	}
	now, err := s.store.snapshot(ctx)
	if err != nil {
		return err
	}
	if err := now.mustBe(was); err != nil {
		return fmt.Errorf("the refused delete changed something: %w", err)
	}
	for _, field := range [][2]string{
		{"guard", guard.Kind + ", protects " + guard.SessionID},
		{"holder", guard.Holder + " (this demo, in the part of the Agent)"},
		{"ends", "at " + expires.Format(time.TimeOnly) + ", or as soon as that process is dead"},
	} {
		p.line(span{margin + padded(field[0], 8), yellow}, span{field[1], plain})
	}
	p.blank()
	p.check("Nothing has changed: no row, no search hit, no file. The app can show the reason and try again.")
	return nil
}

// rest shows what is left, of which earlier steps have made sure.
func (s *show) rest(ctx context.Context) error {
	p := s.page
	p.heading("6. What is left")
	if err := s.store.mustBeSound(ctx); err != nil {
		return err
	}
	p.say(`“bamboo” and “新幹線” stood in the deleted conversation and stand in others. The Agent has two indexes: of whole
		words, and of any three letters. Neither finds what is gone, and both find the rest:`)
	p.blank()
	s.counts()
	p.blank()
	touched := families(s.after.rows, keptBranch, busyRoot)
	p.tree(touched)
	p.blank()
	p.check("The other %d conversations are as they were.", roots(s.after.rows)-roots(touched))
	p.check("SQLite finds the database, its references and both search indexes sound.")
	return nil
}

// counts is the table of before and after.
func (s *show) counts() {
	line := func(label string, before, after any, look style) {
		s.page.line(span{margin + padded(label, 48), look}, span{fmt.Sprintf("%8v", before), look}, span{fmt.Sprintf("%8v", after), look})
	}
	line("", "before", "after", dim)
	line("sessions", len(s.before.rows), len(s.after.rows), plain)
	line("messages", len(s.before.messages), len(s.after.messages), plain)
	line("files in sessions/", len(s.before.files), len(s.after.files), plain)
	for _, word := range searched {
		for _, index := range indexes {
			asked := search{word, index}
			line(fmt.Sprintf("search for %s in %s", word, index), s.before.hits[asked], s.after.hits[asked], plain)
		}
	}
}

// end takes everything down in order and tells of it.
func (s *show) end(context.Context) error {
	p := s.page
	p.heading("7. The end")
	if err := s.tidy(); err != nil {
		return err
	}
	p.check("The app closed the pipe; the sidecar ended with exit status 0.")
	p.check("The temporary folder is gone.")
	return nil
}

// tidy ends the sidecar, closes the store and removes the temporary folder, in this order, as far as they are there. It
// may be called again. The first failure is told, and stops nothing.
func (s *show) tidy() error {
	var failed error
	note := func(err error) {
		if failed == nil {
			failed = err
		}
	}
	if s.sidecar != nil {
		note(s.sidecar.end())
	}
	if s.store != nil {
		note(s.store.close())
	}
	if s.folder != "" {
		note(os.RemoveAll(s.folder))
	}
	s.sidecar, s.store, s.folder = nil, nil, ""
	return failed
}
