import { existsSync, readFileSync } from 'node:fs'

// Like agent.ts, this serves the example's tests too.

/** Asks again and again until it is so. */
export async function until(what: string, isSo: () => boolean | Promise<boolean>, patience = 20_000): Promise<void> {
  const end = performance.now() + patience
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`it never came to be that ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** Whether a process is there that has not ended. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  return !existsSync('/proc/self/stat') || !['Z', undefined].includes(processState(pid))
}

/** The letter that Linux has for a process's state; undefined where there is no such process. */
export function processState(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]![0]
  } catch {
    return undefined
  }
}
