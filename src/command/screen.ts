/** The output of a command: results on stdout, everything else on stderr. */

import process from 'node:process'
import { type Paint, painter, type Style, safeJson, shown } from '../features/logs/shown.ts'
import type { RunStatus } from '../runs/stored/record.ts'

/** Milliseconds between two updates of the progress. */
const PROGRESS_MS = 100

/** The output streams of a command. */
export interface Screen {
  /** Styles text for stdout. */
  readonly paint: Paint
  /** Writes text to stdout, and waits until it is accepted. */
  write(text: string): Promise<void>
  /** Writes a line to stdout. */
  line(text: string): Promise<void>
  /** Writes a value to stdout as one line of JSON. */
  json(value: unknown): Promise<void>
  /** Writes a line to stderr. */
  note(text: string): void
  /** Shows progress on stderr, and replaces the last progress. Does nothing unless stderr is a terminal. */
  progress(text: string): void
}

/** The screen of this process. */
export function createScreen(): Screen {
  const { stdout, stderr } = process
  let shownAt = Number.NEGATIVE_INFINITY
  let isShown = false
  const clear = () => {
    if (isShown) stderr.write('\r\u001b[K')
    isShown = false
  }
  const write = async (text: string) => {
    clear()
    if (stdout.write(text)) return
    await new Promise<void>(resolve => void stdout.once('drain', resolve))
  }
  return {
    paint: painter(isColored(stdout)),
    write,
    line: text => write(`${text}\n`),
    json: value => write(`${safeJson(JSON.stringify(value))}\n`),
    note(text) {
      clear()
      stderr.write(`${text}\n`)
    },
    progress(text) {
      if (!stderr.isTTY || performance.now() - shownAt < PROGRESS_MS) return
      shownAt = performance.now()
      clear()
      stderr.write(shown(text, stderr.columns || 80))
      isShown = true
    },
  }
}

/** Whether a stream is a terminal whose user wants colors (no-color.org). */
function isColored({ isTTY }: { readonly isTTY?: boolean }): boolean {
  return isTTY === true && !process.env.NO_COLOR
}

/** Ends the command without an error when the reader of its output, such as `head`, has exited. */
export function endWithReader(): void {
  process.stdout.on('error', (error: { readonly code?: unknown }) => {
    process.exit(error.code === 'EPIPE' ? 0 : 1)
  })
}

/** A value of a table, which may have a style. */
export type Cell = string | readonly [text: string, style: Style]

/** Rows in columns that are as wide as their longest value. */
export function table(rows: readonly (readonly Cell[])[], paint: Paint): string[] {
  const textOf = (cell: Cell = '') => (typeof cell === 'string' ? cell : cell[0])
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map(row => textOf(row[column]).length))) ?? []
  const shownCell = (cell: Cell, column: number, { length }: readonly Cell[]) => {
    // Padding of the last column would be kept at the end of the line.
    const padded = column === length - 1 ? textOf(cell) : textOf(cell).padEnd(widths[column] ?? 0)
    return typeof cell === 'string' ? padded : paint(cell[1], padded)
  }
  return rows.map(row => row.map(shownCell).join('  ').trimEnd())
}

/** The color of a status. */
export function styleOf(status: RunStatus): Style {
  if (status === 'completed') return 'green'
  if (status === 'failed') return 'red'
  return status === 'running' ? 'cyan' : 'yellow'
}
