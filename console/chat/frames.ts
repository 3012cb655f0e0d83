/** Least and most milliseconds between two frames of work. */
const APART = 50
const MOST_APART = 750

/** The pause after a frame, as a multiple of the time that drawing took. */
const REST = 8

/**
 * Returns a function that schedules the work for one of the next frames: at most once in 50 ms, and less often if drawing is
 * slow, so that a slow computer still responds to keys and scrolling.
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
