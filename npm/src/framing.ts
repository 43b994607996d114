const newline = 0x0a

/** Cuts bytes into lines, wherever the pieces in which they come begin and end: text is made of whole lines only. */
export class LineSplitter {
  #begun: Buffer[] = []

  /** Takes the next piece and gives the lines that end in it, without their ends. Blank lines are left out. */
  push(piece: Buffer): string[] {
    const lines: string[] = []
    let from = 0
    for (let end = piece.indexOf(newline); end >= 0; end = piece.indexOf(newline, from)) {
      const line = this.#finish(piece.subarray(from, end))
      if (line !== '') lines.push(line)
      from = end + 1
    }
    if (from < piece.length) this.#begun.push(piece.subarray(from))
    return lines
  }

  #finish(last: Buffer): string {
    const bytes = this.#begun.length === 0 ? last : Buffer.concat([...this.#begun, last])
    this.#begun = []
    const text = bytes.toString('utf8')
    return text.endsWith('\r') ? text.slice(0, -1) : text
  }
}

/** The longest line that the sidecar takes, without its end. */
const maxLine = 8 * 1024 * 1024

// An escape that JSON.stringify makes only of half a surrogate pair; a backslash before it would be text.
const halfPair = /(?<!\\)(?:\\\\)*\\ud[89a-f]/

/**
 * One request as a line, with its end. What the sidecar would have to answer without an id, because it cannot read the line, is
 * found here: nobody could tell which call such an answer belongs to.
 */
export function requestLine(id: number, method: string, params: unknown): Buffer {
  const text = JSON.stringify({ jsonrpc: '2.0', id, method, params })
  if (halfPair.test(text)) throw new TypeError(`the parameters of ${method} hold half a surrogate pair, which no UTF-8 can carry`)
  const line = Buffer.from(`${text}\n`, 'utf8')
  if (line.length - 1 > maxLine) throw new TypeError(`the parameters of ${method} are larger than 8 MiB`)
  return line
}

/** What the sidecar writes: an answer, a stream frame, or a notification. */
export type Frame = {
  id?: number | string | null
  method?: string
  params?: Record<string, unknown>
  result?: unknown
  error?: { code: number; message: string; data?: Record<string, unknown> }
}

/** Reads one line of the sidecar's; undefined where it is no JSON object. */
export function readFrame(line: string): Frame | undefined {
  try {
    const frame: unknown = JSON.parse(line)
    return typeof frame === 'object' && frame !== null && !Array.isArray(frame) ? frame : undefined
  } catch {
    return undefined
  }
}
