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
	watch    string // the homes to watch, in their order, each with a NUL after it
}

// session is the state of the one conversation with the host: whether it has introduced itself, as what, and what was found
// of its Agent then.
type session struct {
	mu    sync.Mutex
	host  *introduction
	agent agentInfo
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

// introduce enters a handshake and tells whether it is the first. The same one may come again and is answered with what look
// found the first time, whatever has become of the Agent's folder since; a different one may not (contract 1.9). Where look
// fails, there was no handshake.
func (s *session) introduce(host introduction, look func() (agentInfo, error)) (agent agentInfo, first bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.host == nil:
		if agent, err = look(); err != nil {
			return agentInfo{}, false, err
		}
		s.host, s.agent = &host, agent
		return agent, true, nil
	case *s.host != host:
		return agentInfo{}, false, application(ConditionAlreadyHandshaken, "the handshake was already made, with other values")
	}
	return s.agent, false, nil
}

// agentDir is the Agent's folder that the host named, or nothing.
func (s *session) agentDir() string { return s.introduced().agentDir }

// baseHome is the home of the base profile that the host named, or nothing.
func (s *session) baseHome() string { return s.introduced().baseHome }

func (s *session) introduced() introduction {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.host == nil {
		return introduction{}
	}
	return *s.host
}
