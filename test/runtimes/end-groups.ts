// Ends the process groups of a test run that was interrupted or killed. Its standard input is a pipe from the test run, which
// writes `+<id>` for each group that it starts and `-<id>` for each that has ended. When the pipe closes, the rest is ended.
import { createInterface } from 'node:readline'
import { endGroup } from './groups.ts'

const groups = new Set<number>()
const lines = createInterface({ input: process.stdin })
lines.on('line', line => (line.startsWith('+') ? groups.add(Number(line)) : groups.delete(-Number(line))))
lines.on('close', () => Promise.all([...groups].map(endGroup)))
