package sidecartest

import (
	"encoding/json"

	"github.com/stretchr/testify/require"
)

// Reply is one frame of the sidecar.
type Reply struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	} `json:"error"`
}

// Reply waits for the next frame.
func (p *Process) Reply() Reply {
	p.t.Helper()
	var reply Reply
	require.NoError(p.t, json.Unmarshal([]byte(p.Line()), &reply))
	return reply
}

// Answer waits for the answer to a call, behind its stream frames.
func (p *Process) Answer() Reply {
	p.t.Helper()
	for {
		if reply := p.Reply(); reply.Method != "stream" {
			return reply
		}
	}
}

// Handshake introduces the host, with the parameters that are given, or none but the version.
func (p *Process) Handshake(params ...string) {
	p.t.Helper()
	params = append(params, `{"rpc_version":1}`)
	p.Send(`{"jsonrpc":"2.0","id":"handshake","method":"runtime.handshake","params":` + params[0] + "}\n")
	reply := p.Reply()
	require.Nil(p.t, reply.Error, "handshake: %s", p.stderr)
}

// Request sends a request with an id and parameters that are encoded.
func (p *Process) Request(id any, method string, params any) {
	p.t.Helper()
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	require.NoError(p.t, err)
	p.Send(string(line) + "\n")
}
