/** Programs of the system that some tests need. */
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import process from 'node:process'

/** The command of each, by Debian's package. The programs of PostgreSQL's server are in no `PATH`: its client's is there beside them. */
const COMMANDS = {
  'chromium-headless-shell': 'chromium-headless-shell',
  nginx: 'nginx',
  pgbouncer: 'pgbouncer',
  postgresql: 'psql',
  prometheus: 'prometheus',
  systemd: 'systemd-analyze',
} as const

export type Program = keyof typeof COMMANDS

/** The file of a program; undefined where `PATH` has none. */
export function fileOf(program: Program): string | undefined {
  const files = (process.env.PATH ?? '').split(delimiter).map(folder => join(folder, COMMANDS[program]))
  return files.find(isExecutable)
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** What such a test says. */
export const noteOf = (program: Program) => `skipped: needs ${program}`

/** What the tests say that are left out here, each program once. */
export function notesOfMissing(): string[] {
  const programs = Object.keys(COMMANDS) as Program[]
  return programs.filter(program => fileOf(program) === undefined).map(noteOf)
}
