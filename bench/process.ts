/** What the kernel says of a server's process. */

import { readFile } from 'node:fs/promises'

/** The server's own process: the only child of the one that looks after it. */
export async function childOf(pid: number): Promise<string> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return children.trim().split(' ')[0] ?? ''
}

/** Seconds that a process has computed, user and system, in hundredths. */
export async function cpuOf(pid: string): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}

/** Kilobytes that are resident. */
export async function residentOf(pid: string): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1])
}
