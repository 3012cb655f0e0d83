/** A time (ISO 8601) as the reader's clock shows it. */
export function Time({ at }: { at: string }) {
  return <time dateTime={at}>{new Date(at).toLocaleString()}</time>
}
