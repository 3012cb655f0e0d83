// Runs one command. When this process's standard input closes, it ends the command and everything that the command started. The
// test run holds the input as a pipe, so that an interrupted or killed test run leaves nothing behind. The command leads a
// process group of its own, which contains exactly what it started.
import { spawn } from 'node:child_process'

const graceMs = 2_000
const [command = '', ...args] = process.argv.slice(2)
const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'], detached: true })

/** Signals the whole group. False if it is empty. */
function signalGroup(signal: NodeJS.Signals | 0): boolean {
  try {
    return child.pid !== undefined && process.kill(-child.pid, signal)
  } catch {
    return false
  }
}

/** Lets the group clean up for a while, then ends the rest of it and this process. */
async function end(): Promise<never> {
  signalGroup('SIGTERM')
  const last = Date.now() + graceMs
  while (Date.now() < last && signalGroup(0)) await new Promise(resolve => setTimeout(resolve, 10))
  signalGroup('SIGKILL')
  process.exit()
}

child.on('error', error => {
  console.error(`could not start: ${error.message}`)
  end()
})
child.on('exit', (code, signal) => {
  console.error(`exited with ${signal ?? `code ${code}`}`)
  end()
})
// On a request to kill, the group is killed at once, and `exit` above does the rest.
process.on('SIGUSR2', () => signalGroup('SIGKILL'))
process.stdin.on('close', end)
process.stdin.resume()
