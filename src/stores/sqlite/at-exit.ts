import process from 'node:process'

/** The work for the end of the process. All databases share one listener. */
const AT_EXIT = Symbol.for('servable.at-exit')

type Works = Set<() => void>

/**
 * Does `work` when the process ends normally or by `process.exit`. `work` must be synchronous. Returns a function that
 * cancels it.
 */
export function atExit(work: () => void): () => void {
  const holder = process as { [AT_EXIT]?: Works }
  const works = holder[AT_EXIT] ?? listen()
  holder[AT_EXIT] = works
  works.add(work)
  return () => void works.delete(work)
}

function listen(): Works {
  const works: Works = new Set()
  process.on('exit', () => {
    for (const work of works) {
      try {
        work()
      } catch {
        // There is nowhere to report the error. The other work still runs.
      }
    }
  })
  return works
}
