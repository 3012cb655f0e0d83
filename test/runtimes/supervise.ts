// Runs one command and ends it, with everything it started, as soon as this process's standard input closes.
// The input is a pipe held by whoever asked for the command, so that a test run that is interrupted or killed
// leaves nothing behind. The command leads a process group of its own: that group is exactly what it started.
import { spawn } from 'node:child_process'

const graceMs = 2_000
const [command = '', ...args] = process.argv.slice(2)
const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'], detached: true })

/** Signals the whole group; false when it is empty. */
function signalGroup(signal: NodeJS.Signals | 0): boolean {
  try {
    return child.pid !== undefined && process.kill(-child.pid, signal)
  } catch {
    return false
  }
}

/** Lets the group tidy up for a while, then ends what is left of it and this process. */
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
// Asked to kill: what is started is gone before it knows, and `exit` above does the rest.
process.on('SIGUSR2', () => signalGroup('SIGKILL'))
process.stdin.on('close', end)
process.stdin.resume()
