/** Process groups: a server and everything that it started. */

const GRACE_MS = 2_000
const LOOK_EVERY_MS = 10

/** Signals every process of a group. False if there is none. */
export function signalGroup(id: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-id, signal)
  } catch {
    return false
  }
}

/** Lets a group clean up for a while, then ends the rest of it. */
export async function endGroup(id: number): Promise<void> {
  signalGroup(id, 'SIGTERM')
  const last = Date.now() + GRACE_MS
  while (Date.now() < last && signalGroup(id, 0))
    await new Promise(resolve => setTimeout(resolve, LOOK_EVERY_MS))
  signalGroup(id, 'SIGKILL')
}
