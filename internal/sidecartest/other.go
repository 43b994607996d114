package sidecartest

import (
	"bufio"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// otherVariable makes a test binary hold a store open, and run the statements that it is given, instead of running tests.
const otherVariable = "SIDECARTEST_OTHER"

// Other is another process that holds a store open, as an Agent between two turns does.
type Other struct {
	t     testing.TB
	cmd   *exec.Cmd
	stdin io.WriteCloser
	lines *bufio.Reader
}

// otherAnswer is what a statement gave.
type otherAnswer struct {
	Rows  []string
	Error string
}

// StartOther lets another process open a store and look at it. It keeps its one connection, and holds no lock between two
// statements.
func StartOther(t testing.TB, store string) *Other {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), otherVariable+"="+store)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	o := &Other{t, cmd, stdin, bufio.NewReader(stdout)}
	t.Cleanup(o.Stop)
	o.Run("SELECT count(*) FROM sqlite_schema")
	return o
}

// Run runs a statement over the connection that is open, and gives its rows as Home.Query does.
func (o *Other) Run(statement string) []string {
	o.t.Helper()
	require.NoError(o.t, json.NewEncoder(o.stdin).Encode(statement))
	line, err := o.lines.ReadBytes('\n')
	require.NoError(o.t, err, "the other process does not answer")
	var answer otherAnswer
	require.NoError(o.t, json.Unmarshal(line, &answer))
	require.Empty(o.t, answer.Error, statement)
	return answer.Rows
}

// Stop closes the store in an orderly way and waits for the process's end.
func (o *Other) Stop() {
	_ = o.stdin.Close()
	_ = o.cmd.Wait() // a second Stop finds it ended
}

// otherIfAsked is the other side of StartOther.
func otherIfAsked() {
	store := os.Getenv(otherVariable)
	if store == "" {
		return
	}
	if err := beOther(store); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func beOther(store string) error {
	db, err := sql.Open("sqlite3", storeURI(store, "_busy_timeout=10000&mode=rw"))
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	defer func() { _ = db.Close() }()
	statements, answers := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var statement string
		if err := statements.Decode(&statement); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		var answer otherAnswer
		if answer.Rows, err = queryLines(db, statement); err != nil {
			answer.Error = err.Error()
		}
		if err := answers.Encode(answer); err != nil {
			return err
		}
	}
}
