/** The name of a task's log. A full store deletes all parts of a task under this name. */
export function logOf(taskId: string): string {
  return `task:${taskId}`
}
