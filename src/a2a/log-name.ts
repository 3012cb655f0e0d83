/** Name of a task's log, and of the task among what may leave a store that is full. */
export function logOf(taskId: string): string {
  return `task:${taskId}`
}
