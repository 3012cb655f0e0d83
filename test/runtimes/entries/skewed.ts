// Moves the clock of a process by SKEW_MS milliseconds. It must be the first import.
import process from 'node:process'

const skewMs = Number(process.env.SKEW_MS ?? 0)
const { now } = Date

class SkewedDate extends Date {
  static override now(): number {
    return now() + skewMs
  }
  constructor(...given: unknown[]) {
    // Without a time it is the time now.
    super(...((given.length === 0 ? [SkewedDate.now()] : given) as [number]))
  }
}

if (skewMs !== 0) globalThis.Date = SkewedDate as DateConstructor
