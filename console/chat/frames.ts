/** Least milliseconds between two times. */
const APART = 50

/** A function that asks for the work to be done with one of the next frames, at most once in 50 ms. */
export function eachFrame(work: () => void): () => void {
  let last = 0
  let isAsked = false
  const frame = (now: number) => {
    last = now
    isAsked = false
    work()
  }
  return () => {
    if (isAsked) return
    isAsked = true
    setTimeout(() => requestAnimationFrame(frame), last + APART - performance.now())
  }
}
