import type { Clock } from 'session-sidecar'

type Alarm = { at: number; callback: () => void }

/** How long a start may take: asked for at each one. */
export const startPatience = 20_000

/** A clock that a test moves on. It keeps what it was asked for, starts aside. */
export class TestClock implements Clock {
  readonly asked: number[] = []
  #now = 0
  #alarms = new Set<Alarm>()

  /** How many alarms are set, starts included. */
  get pending(): number {
    return this.#alarms.size
  }

  now(): number {
    return this.#now
  }

  after(ms: number, callback: () => void) {
    const alarm = { at: this.#now + ms, callback }
    if (ms !== startPatience) this.asked.push(ms)
    this.#alarms.add(alarm)
    return { cancel: () => void this.#alarms.delete(alarm), hold() {} }
  }

  advance(ms: number): void {
    this.#now += ms
    for (const alarm of [...this.#alarms].filter(({ at }) => at <= this.#now).sort((a, b) => a.at - b.at)) {
      this.#alarms.delete(alarm)
      alarm.callback()
    }
  }
}
