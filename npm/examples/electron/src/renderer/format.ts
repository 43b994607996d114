// How numbers, sizes and times are written. The words around them are in strings.ts.

const minute = 60
const hour = 60 * minute
const day = 24 * hour

/** The formats of one language. */
export function formats(language: string) {
  const number = new Intl.NumberFormat(language)
  const plurals = new Intl.PluralRules(language)
  const dateTime = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' })
  const date = new Intl.DateTimeFormat(language, { dateStyle: 'medium' })
  const shortDate = new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short' })
  const time = new Intl.DateTimeFormat(language, { timeStyle: 'short' })
  const weekday = new Intl.DateTimeFormat(language, { weekday: 'short' })
  const list = new Intl.ListFormat(language, { type: 'conjunction' })
  const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const

  return {
    number: (n: number) => number.format(n),
    /** The form that this language has for a number, with `#` replaced by it. */
    plural(n: number, forms: Partial<Record<Intl.LDMLPluralRule, string>> & { other: string }) {
      return (forms[plurals.select(n)] ?? forms.other).replaceAll('#', number.format(n))
    },
    size(bytes: number) {
      let unit = 0
      let value = bytes
      while (value >= 1000 && unit < units.length - 1) {
        value /= 1000
        unit++
      }
      return new Intl.NumberFormat(language, {
        style: 'unit',
        unit: units[unit],
        unitDisplay: unit === 0 ? 'long' : 'short',
        maximumFractionDigits: value < 10 && unit > 0 ? 1 : 0,
      }).format(value)
    },
    /** In seconds since 1970, as the sidecar counts. */
    dateTime: (seconds: number) => dateTime.format(seconds * 1000),
    date: (seconds: number) => date.format(seconds * 1000),
    /** As short as it is still clear, for a list: a time today, a weekday this week, else a date. */
    brief(seconds: number, now = Date.now() / 1000) {
      const midnight = new Date(now * 1000).setHours(0, 0, 0, 0) / 1000
      if (seconds >= midnight && seconds < midnight + day) return time.format(seconds * 1000)
      if (seconds < midnight && seconds >= midnight - 6 * day) return weekday.format(seconds * 1000)
      const sameYear = new Date(seconds * 1000).getFullYear() === new Date(now * 1000).getFullYear()
      return sameYear ? shortDate.format(seconds * 1000) : date.format(seconds * 1000)
    },
    /** A time of today without its date, since a turn ends soon. */
    until(seconds: number, now = Date.now() / 1000) {
      return Math.abs(seconds - now) < 12 * hour ? time.format(seconds * 1000) : dateTime.format(seconds * 1000)
    },
    /** `now` may be half a minute old: what was kept for thirty days this instant has not thirty-one. */
    daysFrom: (seconds: number, now = Date.now() / 1000) => Math.max(0, Math.ceil((seconds - now - minute) / day)),
    list: (parts: string[]) => list.format(parts),
  }
}
