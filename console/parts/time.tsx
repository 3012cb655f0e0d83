/** Created once, since creating it is slower than using it. */
const format = new Intl.DateTimeFormat(undefined, { dateStyle: 'short', timeStyle: 'medium' })

/** A time (ISO 8601) in the reader's time zone. */
export function Time({ at }: { at: string }) {
  return <time dateTime={at}>{format.format(new Date(at))}</time>
}
