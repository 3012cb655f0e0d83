/**
 * What a page with `useChat` needs beside it: the entry `servable/ai-sdk-ui/page`.
 *
 * @module
 */

/** Stops the run of a chat that resumes: leaving does not. */
export async function stopChat(api: string, id: string): Promise<void> {
  await fetch(`${api}/${encodeURIComponent(id)}/stop`, { method: 'POST' })
}
