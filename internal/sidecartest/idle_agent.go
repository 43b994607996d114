package sidecartest

import (
	"encoding/json"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// IdleAgent is another process that holds a store open, as an Agent between two turns does.
type IdleAgent struct{ helper *helper }

// statementAnswer is what a statement gave.
type statementAnswer struct {
	Rows  []string
	Error string
}

// StartIdleAgent lets another process open a store and look at it. It keeps its one connection, and holds no lock between two
// statements.
func StartIdleAgent(t testing.TB, store string) *IdleAgent {
	t.Helper()
	a := &IdleAgent{startHelper(t, as(itself(t), roleIdleAgent, store))}
	a.Run("SELECT count(*) FROM sqlite_schema")
	return a
}

// Run runs a statement over the connection that is open, and gives its rows as Home.Query does.
func (a *IdleAgent) Run(statement string) []string {
	t := a.helper.t
	t.Helper()
	require.NoError(t, json.NewEncoder(a.helper.stdin).Encode(statement))
	var answer statementAnswer
	require.NoError(t, json.Unmarshal([]byte(a.helper.line("the other process does not answer")), &answer))
	require.Empty(t, answer.Error, statement)
	return answer.Rows
}

// Stop closes the store in an orderly way and waits for the process's end.
func (a *IdleAgent) Stop() { _ = a.helper.end() }

// beIdleAgent is the other side of StartIdleAgent.
func beIdleAgent(args []string) error {
	db, err := openStore(args[0], "rw")
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	statements, answers := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var statement string
		if err := statements.Decode(&statement); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		var answer statementAnswer
		if answer.Rows, err = queryLines(db, statement); err != nil {
			answer.Error = err.Error()
		}
		if err := answers.Encode(answer); err != nil {
			return err
		}
	}
}
