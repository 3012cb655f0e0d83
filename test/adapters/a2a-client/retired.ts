import { RETIRED } from '../../../src/base/abort.ts'

/** The signal of a run that another worker will go on with. */
export function retiredSignal() {
  const controller = new AbortController()
  return {
    signal: controller.signal,
    retire: () => controller.abort(new DOMException(RETIRED, 'AbortError')),
  }
}
