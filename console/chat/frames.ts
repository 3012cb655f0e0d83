/** Least and most milliseconds between two times. */
const APART = 50
const MOST_APART = 750

/** So many times as long as the last time took to draw, the page does other things before the next one. */
const REST = 8

/**
 * A function that asks for the work to be done with one of the next frames: at most once in 50 ms, and less often where drawing takes
 * long, so that a slow computer still answers to keys and scrolling.
 */
export function eachFrame(work: () => void): () => void {
  let next = 0
  let isAsked = false
  let isDrawing = false
  const plan = () => setTimeout(() => requestAnimationFrame(frame), next - performance.now())
  const frame = (now: number) => {
    isAsked = false
    isDrawing = true
    work()
    // This runs once the frame is drawn.
    setTimeout(() => {
      const took = performance.now() - now
      next = now + took + Math.min(MOST_APART, Math.max(APART - took, REST * took))
      isDrawing = false
      if (isAsked) plan()
    })
  }
  return () => {
    if (isAsked) return
    isAsked = true
    if (!isDrawing) plan()
  }
}
