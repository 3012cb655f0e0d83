/** Makes a queue of works that must not overlap: each begins when those before it have ended, well or not. */
export function createTurns(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return work => {
    const turn = last.then(work)
    last = turn.catch(() => {})
    return turn
  }
}
