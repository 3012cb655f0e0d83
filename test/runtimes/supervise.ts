// Runs one command and ends it, with everything it started, as soon as this process's standard input closes.
// The input is a pipe held by whoever asked for the process, so that a test run that is interrupted or killed
// leaves nothing behind. This process leads its own process group (it is started detached): signals meant for
// the test run do not reach it, and signalling group 0 reaches exactly what it started.
import { spawn } from 'node:child_process'

const graceMs = 2_000
const [command = '', ...args] = process.argv.slice(2)
const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'] })

const endGroup = () => process.kill(0, 'SIGKILL')

child.on('error', error => {
  console.error(`could not start: ${error.message}`)
  endGroup()
})
child.on('exit', (code, signal) => {
  console.error(`exited with ${signal ?? `code ${code}`}`)
  endGroup()
})
process.on('SIGTERM', () => child.kill('SIGTERM'))
process.stdin.on('close', () => {
  child.kill('SIGTERM')
  setTimeout(endGroup, graceMs)
})
process.stdin.resume()
