import type { Method } from '../methods.js'

// The names that the preload script and the main process have for what passes between them.

export const callChannel = (method: Method): string => `sidecar:call:${method}`
export const listenChannel = 'sidecar:listen'
export const eventChannel = 'sidecar:event'
