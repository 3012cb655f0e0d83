/** The events of a run, and what people call them. */
export const EVENTS: Readonly<Record<string, string>> = {
  'run.completed': 'a run is done',
  'run.failed': 'a run failed',
  'run.input_required': 'a run waits for a person',
  'run.cancelled': 'a run was stopped',
}

export function nameOf(event: string): string {
  return EVENTS[event] ?? event
}
