import process from 'node:process'

/** What is to be done when the process ends. One listener for all, however many databases there are. */
const AT_EXIT = Symbol.for('servable.at-exit')

type Works = Set<() => void>

/** Does `work`, which must not wait, when the process ends by itself or by `process.exit`. Gives what takes that back. */
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
        // There is nobody left to tell; the others have their turn.
      }
    }
  })
  return works
}
