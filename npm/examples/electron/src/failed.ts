import type { Failure } from './bridge.js'

/** The answer to a call that failed. */
export const failed = (failure: Failure): { readonly ok: false; readonly failure: Failure } => ({ ok: false, failure })
