package deletion

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"session-sidecar/cleanup"
	"session-sidecar/internal/faultpoint"
	"session-sidecar/internal/jitter"
	"session-sidecar/statedb"
)

// How the write lock is used for files that rows named. They can wait until the next time, so nobody else shall wait for them.
const (
	namedPatience  = 2 * time.Second // how long the lock is tried
	unlinksPerLock = 300
	unlinksAtLast  = 5000 // where others write all the time and there is no second turn
	looksAgain     = 3    // how often what was seen may be out of date before it is seen under the lock
)

// collection is one removal of the files that deleted rows named and that no row names any more (contract 5b.5), under the
// home's locks and after the commit of the delete. Who names a file is asked without the write lock; under it that is only
// proved, and the file unlinked. Its note goes when the file is gone for good, in a transaction of its own: a crash in
// between leaves a note of a file that is not there, which goes the next time.
//
// What is still named, too young, or nothing that may be removed stays noted for the next time and is no failure; so does
// everything where the store is busy.
type collection struct {
	home  lockedHome
	own   []statedb.Media // the media and spilled files that the rows of this very delete named: they go first
	seen  map[string]statedb.Sighting
	look  *statedb.Look
	gone  map[cleanup.Named]bool // not there any more, perhaps not for good
	empty bool                   // there is a note of nothing
	stuck []stuckFile
	// settled are the files of which it is certain what becomes of them; of the others, nobody was asked.
	settled map[cleanup.Named]bool
	sources map[cleanup.Named]stuckFile // as whose file one is reported
}

// toDo is what a look says is to be done.
type toDo struct {
	unlink []cleanup.Named
	drop   []statedb.SpillNote // as they are to be: without the files that messages name again
}

// asked is a store that is looked at, or written.
type asked interface {
	NotedFiles(context.Context) (statedb.FileNotes, error)
	Mentioned(context.Context, []statedb.NotedMedia, []string, map[string]statedb.Sighting) (statedb.Mentions, error)
}

func newCollection(h lockedHome, own []statedb.Media) *collection {
	return &collection{
		home: h, own: own, gone: map[cleanup.Named]bool{}, settled: map[cleanup.Named]bool{}, sources: map[cleanup.Named]stuckFile{},
	}
}

// collectNamed also gives back what it had done when it failed.
func (d *Deleter) collectNamed(ctx context.Context, h lockedHome, own []statedb.Media) (*collection, error) {
	c := newCollection(h, own)
	notes, err := d.notedFiles(ctx, h)
	if err != nil {
		return c, err
	}
	c.settleUnnoted(notes)
	if notes.Empty() {
		return c, nil
	}
	if c.look, err = statedb.StartLook(ctx, h.store, statedb.LookPatience); err != nil {
		return c, err
	}
	defer c.look.Close()
	d.mu.Lock()
	c.seen = d.sightings[h.path]
	d.mu.Unlock()
	err = c.collect(ctx)
	d.mu.Lock()
	d.sightings[h.path] = c.seen
	d.mu.Unlock()
	return c, err
}

// settleUnnoted settles the files of this delete that are not noted: somebody has seen to them.
func (c *collection) settleUnnoted(notes statedb.FileNotes) {
	noted := map[string]bool{}
	for _, m := range notes.Media {
		noted[m.Path] = true
	}
	for _, note := range notes.Spilled {
		for _, file := range note.Files {
			noted[file] = true
		}
	}
	for _, m := range c.own {
		c.settled[cleanup.Named{Path: m.Path, SHA256: m.SHA256}] = !noted[m.Path]
	}
}

func (c *collection) collect(ctx context.Context) error {
	err := c.removeAll(ctx)
	if c.empty || len(c.gone) > 0 {
		err = errors.Join(err, c.forget(ctx))
	}
	return err
}

func (c *collection) removeAll(ctx context.Context) error {
	for again := 0; ; again++ {
		do, err := c.ask(ctx, c.look)
		if err != nil {
			return err
		}
		if held, err := c.remove(ctx, do); held || err != nil {
			return err
		}
		if again == looksAgain {
			return c.removeUnderLock(ctx)
		}
		if err := c.look.Again(ctx); err != nil {
			return err
		}
	}
}

// ask decides what is to be done, from what a store says now. The rows of media that were seen before are looked at first.
func (c *collection) ask(ctx context.Context, store asked) (do toDo, err error) {
	notes, err := store.NotedFiles(ctx)
	if err != nil {
		return do, err
	}
	var media []statedb.NotedMedia
	var spilled []string
	for _, m := range notes.Media {
		n := cleanup.Named{Path: m.Path, SHA256: m.SHA256}
		c.sources[n] = stuckFile{path: m.Path}
		if c.mayGo(n) {
			media = append(media, m)
		}
	}
	for _, note := range notes.Spilled {
		c.empty = c.empty || len(note.Files) == 0
		for _, file := range note.Files {
			n := cleanup.Named{Path: file}
			c.sources[n] = stuckFile{path: file, session: slices.Concat(note.SessionIDs, []string{""})[0]}
			if c.mayGo(n) {
				spilled = append(spilled, file)
			}
		}
	}
	mentions, err := store.Mentioned(ctx, media, spilled, c.seen)
	if err != nil {
		return do, err
	}
	c.seen = mentions.Media
	for _, m := range media {
		_, named := mentions.Media[m.Path]
		c.decide(cleanup.Named{Path: m.Path, SHA256: m.SHA256}, named, &do)
	}
	for _, file := range slices.Compact(slices.Sorted(slices.Values(spilled))) {
		c.decide(cleanup.Named{Path: file}, mentions.Spilled[file], &do)
	}
	for _, note := range notes.Spilled {
		left := slices.DeleteFunc(slices.Clone(note.Files), func(file string) bool { return mentions.Spilled[file] })
		if len(left) < len(note.Files) {
			note.Files = left
			do.drop = append(do.drop, note)
		}
	}
	c.ownFirst(do.unlink)
	return do, nil
}

// mayGo tells whether it depends on the rows alone whether a file goes.
func (c *collection) mayGo(n cleanup.Named) bool {
	state := c.home.folder.State(n)
	c.settled[n] = state != cleanup.NamedRemovable && state != cleanup.NamedUnknown
	if state == cleanup.NamedGone {
		c.gone[n] = true
	}
	return state == cleanup.NamedRemovable
}

func (c *collection) decide(n cleanup.Named, named bool, do *toDo) {
	c.settled[n] = named
	if !named {
		do.unlink = append(do.unlink, n)
	}
}

func (c *collection) ownFirst(files []cleanup.Named) {
	own := map[string]bool{}
	for _, m := range c.own {
		own[m.Path] = true
	}
	slices.SortStableFunc(files, func(a, b cleanup.Named) int {
		switch {
		case own[a.Path] == own[b.Path]:
			return 0
		case own[a.Path]:
			return -1
		}
		return 1
	})
}

// remove does what a look says, for as long as the look holds: some files at a time, so that others can write in between.
func (c *collection) remove(ctx context.Context, do toDo) (held bool, err error) {
	for len(do.unlink) > 0 || len(do.drop) > 0 {
		tx, holds, err := c.look.Begin(ctx, namedPatience)
		if err != nil || !holds {
			if err == nil {
				err = tx.Rollback()
			}
			return false, err
		}
		n := min(len(do.unlink), unlinksPerLock)
		if err := c.removeIn(ctx, tx, do.drop, do.unlink[:n]); err != nil {
			return false, err
		}
		do.drop, do.unlink = nil, do.unlink[n:]
		if len(do.unlink) > 0 {
			if err := jitter.Pause(ctx, letWrite, letWrite/4); err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

// removeUnderLock is for a store in which others write all the time: everything is seen under the lock, once, and what does
// not go then waits for the next time.
func (c *collection) removeUnderLock(ctx context.Context) error {
	tx, _, err := c.look.Begin(ctx, namedPatience)
	if err != nil {
		return err
	}
	do, err := c.ask(ctx, tx)
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return c.removeIn(ctx, tx, do.drop, do.unlink[:min(len(do.unlink), unlinksAtLast)])
}

// removeIn unlinks files while the write lock is held, and drops from the notes what is in use again: once the lock is given
// back, nobody knows whether that still holds. It ends the transaction.
func (c *collection) removeIn(ctx context.Context, tx *statedb.Tx, drop []statedb.SpillNote, files []cleanup.Named) error {
	defer func() { _ = tx.Rollback() }()
	for _, note := range drop {
		if err := tx.RewriteSpillNote(ctx, note); err != nil {
			return err
		}
	}
	for _, n := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		state, err := c.home.folder.Unlink(n)
		c.settled[n] = state != cleanup.NamedUnknown
		switch {
		case err != nil:
			c.isStuck(n)
		case state == cleanup.NamedGone:
			c.gone[n] = true
		}
	}
	if len(drop) == 0 {
		return tx.Rollback()
	}
	return tx.Commit()
}

func (c *collection) isStuck(n cleanup.Named) {
	if f := c.sources[n]; !slices.Contains(c.stuck, f) {
		c.stuck = append(c.stuck, f)
	}
}

// forget removes the notes of what is gone for good.
func (c *collection) forget(ctx context.Context) error {
	gone, failed := c.home.folder.Sync(ctx, slices.Collect(maps.Keys(c.gone)))
	for n := range failed {
		c.isStuck(n)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	faultpoint.Hit(faultpoint.MediaDurable)
	tx, _, err := c.look.Begin(ctx, namedPatience)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	notes, err := tx.NotedFiles(ctx)
	if err != nil {
		return err
	}
	forgotten := map[cleanup.Named]bool{}
	for _, n := range gone {
		forgotten[n] = true
	}
	media := slices.DeleteFunc(notes.Media, func(m statedb.NotedMedia) bool {
		return !forgotten[cleanup.Named{Path: m.Path, SHA256: m.SHA256}]
	})
	if err := tx.ForgetMedia(ctx, media); err != nil {
		return err
	}
	for _, note := range notes.Spilled {
		left := slices.DeleteFunc(slices.Clone(note.Files), func(file string) bool { return forgotten[cleanup.Named{Path: file}] })
		if len(left) > 0 && len(left) == len(note.Files) {
			continue
		}
		note.Files = left
		if err := tx.RewriteSpillNote(ctx, note); err != nil {
			return err
		}
	}
	return tx.Commit()
}
