/** Made once: it takes longer to make one than to use it. */
const format = new Intl.DateTimeFormat(undefined, { dateStyle: 'short', timeStyle: 'medium' })

/** A time (ISO 8601) as the reader's clock shows it. */
export function Time({ at }: { at: string }) {
  return <time dateTime={at}>{format.format(new Date(at))}</time>
}
