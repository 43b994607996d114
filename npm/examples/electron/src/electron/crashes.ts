/** A page that crashes again within this time, in milliseconds, would crash for ever if it was loaded anew each time. */
const soon = 60_000

/** Decides what to do about a page that crashes. */
export class Crashes {
  #last = Number.NEGATIVE_INFINITY

  /** For a crash at this time, in milliseconds: whether to load the page anew, unasked, or to tell the user. */
  next(now: number): 'reload' | 'tell' {
    const again = now - this.#last < soon
    this.#last = now
    return again ? 'tell' : 'reload'
  }
}
