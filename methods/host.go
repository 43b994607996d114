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

// host is what is known of the one host that this process serves: whether it has introduced itself, as what, and what was found
// of its Agent then.
type host struct {
	mu    sync.Mutex
	said  *introduction
	agent agentInfo
}

// NeedsHandshake tells whether a method, known or not, is refused before a good handshake (contract 1.9).
func NeedsHandshake(method string) bool {
	return !strings.HasPrefix(method, "rpc.") && !strings.HasPrefix(method, "runtime.")
}

// gate refuses what needs a handshake before there was a good one.
func (h *host) gate(name string) *rpc.Error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.said != nil || !NeedsHandshake(name) {
		return nil
	}
	return application(ConditionHandshakeRequired, "call runtime.handshake first")
}

// introduce enters a handshake and tells whether it is the first. The same one may come again and is answered with what look
// found the first time, whatever has become of the Agent's folder since; a different one may not (contract 1.9). Where look
// fails, there was no handshake.
func (h *host) introduce(says introduction, look func() (agentInfo, error)) (agent agentInfo, first bool, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.said == nil:
		if agent, err = look(); err != nil {
			return agentInfo{}, false, err
		}
		h.said, h.agent = &says, agent
		return agent, true, nil
	case *h.said != says:
		return agentInfo{}, false, application(ConditionAlreadyHandshaken, "the handshake was already made, with other values")
	}
	return h.agent, false, nil
}

// agentDir is the Agent's folder that the host named, or nothing.
func (h *host) agentDir() string { return h.introduced().agentDir }

// baseHome is the home of the base profile that the host named, or nothing.
func (h *host) baseHome() string { return h.introduced().baseHome }

func (h *host) introduced() introduction {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.said == nil {
		return introduction{}
	}
	return *h.said
}
