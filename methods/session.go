package methods

import (
	"strings"
	"sync"

	"session-sidecar/rpc"
)

// introduction is what a host says of itself and of the Agent in its handshake.
type introduction struct {
	agentDir string
	baseHome string
}

// session is the state of the one conversation with the host: whether it has introduced itself, and as what.
type session struct {
	mu   sync.Mutex
	host *introduction
}

// isOpen tells whether a method needs no handshake (contract 1.9).
func isOpen(name string) bool {
	return strings.HasPrefix(name, "rpc.") || strings.HasPrefix(name, "runtime.")
}

// gate refuses what needs a handshake before there was a good one.
func (s *session) gate(name string) *rpc.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.host != nil || isOpen(name) {
		return nil
	}
	return application(ConditionHandshakeRequired, "call runtime.handshake first")
}

// introduce enters a handshake and tells whether it is the first. The same one may come again; a different one may not.
func (s *session) introduce(host introduction) (first bool, refusal *rpc.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.host != nil && *s.host != host {
		return false, application(ConditionAlreadyHandshaken, "the handshake was already made, with other values")
	}
	first = s.host == nil
	s.host = &host
	return first, nil
}

// agentDir is the Agent's folder that the host named, or nothing.
func (s *session) agentDir() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.host == nil {
		return ""
	}
	return s.host.agentDir
}
