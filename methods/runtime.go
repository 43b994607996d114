package methods

import (
	"context"

	"session-sidecar/rpc"
)

type shutdownParams struct {
	ExitCode *int `json:"exit_code,omitempty" jsonschema:"the exit status of the process, 0 to 255; 0 where absent"`
}

type okResult struct {
	OK bool `json:"ok" jsonschema:"always true"`
}

func registerRuntime(r *Registry, s *service) {
	register(r, spec[handshakeParams, handshakeResult]{
		name: "runtime.handshake", summary: "Introduces the host and the Agent. It must come before every method of a store.",
		inline: true, reasons: []Reason{ConditionAlreadyHandshaken, ConditionVersionMismatch},
		before: refuseOtherVersion, call: s.handshake,
	})
	register(r, spec[noParams, statusResult]{
		name: "runtime.status", summary: "Tells how busy the sidecar is and what is left to clean up.", brief: true, call: s.status,
	})
	register(r, spec[shutdownParams, okResult]{
		name: "runtime.shutdown", summary: "Ends the process in order: calls in flight are answered first.",
		inline: true, call: shutdown,
	})
}

// shutdown is contract 2. Its answer still goes out.
func shutdown(ctx context.Context, p shutdownParams) (okResult, error) {
	code := 0
	if p.ExitCode != nil {
		code = *p.ExitCode
	}
	if code < 0 || code > 255 {
		return okResult{}, invalidParams("exit_code is 0 to 255")
	}
	rpc.FromContext(ctx).End(code)
	return okResult{OK: true}, nil
}
