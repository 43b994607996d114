package rpc

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheEnvelopeIsReadStrictly(t *testing.T) {
	h := start(t, routes{}, 0)
	for name, c := range map[string]struct{ line, id string }{
		"no jsonrpc":               {`{"id":1,"method":"echo"}`, `1`},
		"jsonrpc 1.0":              {`{"jsonrpc":"1.0","id":1,"method":"echo"}`, `1`},
		"jsonrpc a number":         {`{"jsonrpc":2.0,"id":1,"method":"echo"}`, `1`},
		"jsonrpc null":             {`{"jsonrpc":null,"id":1,"method":"echo"}`, `1`},
		"no method":                {`{"jsonrpc":"2.0","id":1}`, `1`},
		"method a number":          {`{"jsonrpc":"2.0","id":1,"method":1}`, `1`},
		"method null":              {`{"jsonrpc":"2.0","id":1,"method":null}`, `1`},
		"method empty":             {`{"jsonrpc":"2.0","id":1,"method":""}`, `1`},
		"an answer":                {`{"jsonrpc":"2.0","id":1,"result":{}}`, `1`},
		"params null":              {ask(`1`, "echo", `null`), `1`},
		"params an array":          {ask(`1`, "echo", `[]`), `1`},
		"params a string":          {ask(`1`, "echo", `"{}"`), `1`},
		"params a number":          {ask(`1`, "echo", `0`), `1`},
		"params true":              {ask(`1`, "echo", `true`), `1`},
		"Method":                   {`{"jsonrpc":"2.0","id":1,"Method":"echo"}`, `1`},
		"Method beside method":     {`{"jsonrpc":"2.0","id":1,"method":"echo","Method":"echo"}`, `1`},
		"ID":                       {`{"jsonrpc":"2.0","ID":1,"method":"echo"}`, `null`},
		"ID beside id":             {`{"jsonrpc":"2.0","ID":2,"id":1,"method":"echo"}`, `1`},
		"ID spelled with escapes":  {`{"jsonrpc":"2.0","id":1,"\u0049\u0044":1,"method":"echo"}`, `1`},
		"JSONRPC":                  {`{"JSONRPC":"2.0","id":1,"method":"echo"}`, `1`},
		"JSONRPC beside jsonrpc":   {`{"JSONRPC":"2.0","jsonrpc":"2.0","id":1,"method":"echo"}`, `1`},
		"PARAMS":                   {`{"jsonrpc":"2.0","id":1,"method":"echo","PARAMS":{}}`, `1`},
		"a long s in params":       {`{"jsonrpc":"2.0","id":1,"method":"echo","paramſ":{}}`, `1`},
		"id twice":                 {`{"jsonrpc":"2.0","id":1,"id":2,"method":"echo"}`, `null`},
		"id twice, the same":       {`{"jsonrpc":"2.0","id":1,"method":"echo","id":1}`, `null`},
		"id twice, once escaped":   {`{"jsonrpc":"2.0","id":1,"\u0069d":1,"method":"echo"}`, `null`},
		"jsonrpc twice":            {`{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"echo"}`, `1`},
		"method twice":             {`{"jsonrpc":"2.0","id":1,"method":"echo","m\u0065thod":"echo"}`, `1`},
		"params twice":             {`{"jsonrpc":"2.0","id":1,"method":"echo","params":{},"params":{}}`, `1`},
		"an unknown field twice":   {`{"jsonrpc":"2.0","id":1,"method":"echo","x":1,"x":1}`, `1`},
		"twice in params":          {ask(`1`, "echo", `{"a":1,"a":1}`), `1`},
		"twice in params, escaped": {ask(`1`, "echo", `{"a":1,"\u0061":2}`), `1`},
		"twice deep down":          {ask(`1`, "echo", `{"a":[1,{"b":{"c":[],"d":0,"c":{}}}]}`), `1`},
		"twice in an array's last": {ask(`1`, "echo", `{"a":[{},[{"x":{},"x":[]}]]}`), `1`},
		"id twice in params only":  {ask(`1`, "echo", `{"id":1,"id":1}`), `1`},
		"a batch":                  {`[` + ask(`1`, "echo", `{}`) + `,` + ask(`2`, "echo", `{}`) + `]`, `null`},
		"an empty batch":           {`[]`, `null`},
		"a string":                 {`"echo"`, `null`},
		"a number":                 {`1`, `null`},
		"null":                     {`null`, `null`},
		"an empty object":          {`{}`, `null`},
	} {
		t.Run(name, func(t *testing.T) {
			h.t = t
			h.send(c.line)
			h.requireError(c.id, CodeInvalidRequest, "")
			h.requireNothingElse()
		})
	}
}

func TestWhatTheEnvelopeAllows(t *testing.T) {
	h := start(t, routes{}, 0)
	for name, c := range map[string]struct{ line, result string }{
		"no params":                   {`{"jsonrpc":"2.0","id":1,"method":"echo"}`, `null`},
		"unknown fields":              {`{"x":[1],"jsonrpc":"2.0","id":1,"method":"echo","params":{},"meta":{"a":null}}`, `{}`},
		"fields spelled with escape":  {`{"\u006asonrpc":"2.0","\u0069d":1,"method":"e\u0063ho","params":{}}`, `{}`},
		"params as they were":         {ask(`1`, "echo", `{"n":9007199254740993,"s":"<\u0061>","Case":1,"case":2}`), `{"n":9007199254740993,"s":"<\u0061>","Case":1,"case":2}`},
		"a key again elsewhere":       {ask(`1`, "echo", `{"a":{"a":[{"a":1},{"a":1}]},"id":2}`), `{"a":{"a":[{"a":1},{"a":1}]},"id":2}`},
		"spaces":                      {" \t" + ask(`1`, "echo", ` { } `) + " \t ", `{}`},
		"a field in capitals, nested": {ask(`1`, "echo", `{"ID":1,"METHOD":2}`), `{"ID":1,"METHOD":2}`},
	} {
		t.Run(name, func(t *testing.T) {
			h.t = t
			h.send(c.line)
			require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":`+c.result+`}`, h.line())
		})
	}
}

func TestANotificationIsNeverAnsweredAndRunsNothing(t *testing.T) {
	var ran atomic.Int32
	record := func(context.Context, json.RawMessage) (any, error) { ran.Add(1); return nil, nil }
	h := start(t, routes{"record": {Call: record}, "inline record": {Inline: true, Call: record}}, 0)
	h.send(`{"jsonrpc":"2.0","method":"record","params":{}}`,
		`{"jsonrpc":"2.0","method":"inline record"}`,
		`{"jsonrpc":"2.0","method":"no method"}`)
	h.requireNothingElse()

	for _, line := range []string{
		`{"jsonrpc":"2.0","method":1}`, `{"jsonrpc":"2.0"}`, `{"jsonrpc":"1.0","method":"record"}`,
		`{"jsonrpc":"2.0","method":"record","params":[]}`, `{"jsonrpc":"2.0","Method":"record"}`,
	} {
		h.send(line)
		h.requireError("null", CodeInvalidRequest, "")
	}
	require.NoError(t, h.in.Close())
	require.Equal(t, 0, h.exit())
	require.Zero(t, ran.Load())
}
